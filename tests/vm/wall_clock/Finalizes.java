/** The JDK's thread that finalizes objects first waits for one, then rests in the program's code. */
public class Finalizes {
    static volatile boolean rested;

    static void resting() throws InterruptedException { Thread.sleep(700); }

    @Override
    protected void finalize() throws Throwable {
        resting();
        rested = true;
    }

    static void drop() { new Finalizes(); }

    public static void main(String[] arguments) throws Exception {
        Thread.sleep(500);
        drop();
        while (!rested) {
            System.gc();
            Thread.sleep(10);
        }
        System.out.println("rested");
    }
}
