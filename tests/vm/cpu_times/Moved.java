/** A hundred threads that sleep while two make garbage: collectors that move objects move theirs. Argument: MiB of garbage. */
public class Moved {
    static volatile Object last;

    static void litter(int mebibytes) {
        for (int i = 0; i < mebibytes * 256; i++) last = new byte[4096];
    }

    public static void main(String[] arguments) throws Exception {
        int mebibytes = Integer.parseInt(arguments[0]);
        for (int i = 0; i < 100; i++) {
            Thread sleeper = new Thread(null, Moved::sleep, "sleeper-" + i, 128 * 1024);
            sleeper.setDaemon(true);
            sleeper.start();
        }
        Thread[] litterers = new Thread[2];
        for (int i = 0; i < 2; i++) (litterers[i] = new Thread(() -> litter(mebibytes / 2))).start();
        for (Thread litterer : litterers) litterer.join();
        System.out.println("done");
    }

    static void sleep() {
        try {
            Thread.sleep(1_000_000);
        } catch (InterruptedException e) {
            System.out.println(e);
        }
    }
}
