/** Threads that wait for known times, one after the other: `WAITED <ns>` is what the program measured of all of them. */
public class TimedWaits {
    static final int ROUNDS = 5;
    static final long MS = 20;
    static final Object bell = new Object();
    static long waited;

    static void waiting() throws InterruptedException {
        for (int i = 0; i < ROUNDS; i++) {
            synchronized (bell) {
                long from = System.nanoTime();
                bell.wait(MS);
                waited += System.nanoTime() - from;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Runnable body = () -> {
            try {
                waiting();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
        Thread thread = new Thread(body, "waiter");
        if (arguments.length != 0) { // a virtual one
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            builder = type.getMethod("name", String.class).invoke(builder, "waiter");
            thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, body);
        }
        thread.start();
        thread.join();
        System.out.println("WAITED " + waited);
    }
}
