/** A thread named sleeper sleeps until the main thread, which waits for a moment meanwhile, wakes it. */
public class Sleeper {
    public static void main(String[] arguments) throws Exception {
        Thread sleeper = new Thread(new Runnable() {
            @Override
            public void run() {
                try {
                    Thread.sleep(3_600_000);
                } catch (InterruptedException e) {
                    System.out.println("woken");
                }
            }
        }, "sleeper");
        sleeper.start();
        while (sleeper.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
        Object moment = new Object();
        synchronized (moment) {
            moment.wait(1);
        }
        sleeper.interrupt();
        sleeper.join();
    }
}
