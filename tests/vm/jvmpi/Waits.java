/** Waits of all kinds, and one of the VM's own: for another thread that initialises a class. */
public class Waits {
    static final Object MONITOR = new Object();
    static volatile boolean arrives;

    static class Slow {
        static int value;

        static {
            while (!arrives) Thread.yield();
            pause();
            value = 1;
        }
    }

    static void pause() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void interrupted() {
        Thread.currentThread().interrupt();
        try {
            synchronized (MONITOR) {
                MONITOR.wait();
            }
        } catch (InterruptedException e) {
            System.out.println("interrupted");
        }
    }

    /** Begins in some VMs and never ends. */
    static void withoutMonitor() throws InterruptedException {
        try {
            MONITOR.wait(1);
        } catch (IllegalMonitorStateException e) {
            System.out.println("not the owner");
        }
    }

    public static void main(String[] arguments) throws Exception {
        synchronized (MONITOR) {
            MONITOR.wait(1);
        }
        Thread waker = new Thread(() -> {
            synchronized (MONITOR) {
                MONITOR.notifyAll();
            }
        });
        synchronized (MONITOR) {
            waker.start();
            MONITOR.wait();
        }
        waker.join();
        interrupted();
        withoutMonitor();
        Thread initialiser = new Thread(() -> Slow.value++);
        initialiser.start();
        while (initialiser.getState() == Thread.State.NEW) Thread.yield();
        arrives = true;
        System.out.println(Slow.value > 0);
        initialiser.join();
    }
}
