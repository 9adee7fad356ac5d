/** A thread that waits on a monitor which nobody owns, one that owns a monitor, one that wants it; then main waits. */
public class MonitorLists {
    static final Object LONELY = new Object(), WANTED = new Object(), MINE = new Object();
    static volatile boolean owned, done;

    static void waits() {
        synchronized (LONELY) {
            try {
                LONELY.wait();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    static void owns() {
        synchronized (WANTED) {
            owned = true;
            while (!done) Thread.yield();
        }
    }

    static void wants() {
        synchronized (WANTED) {
            done = true;
        }
    }

    static Thread start(String name, Runnable body, Thread.State state) {
        Thread thread = new Thread(body, name);
        thread.start();
        while (thread.getState() != state) Thread.yield();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        Thread waiter = start("waiter", MonitorLists::waits, Thread.State.WAITING);
        Thread owner = start("owner", MonitorLists::owns, Thread.State.RUNNABLE);
        while (!owned) Thread.yield();
        Thread wanting = start("wanting", MonitorLists::wants, Thread.State.BLOCKED);
        synchronized (MINE) {
            MINE.wait(1);
        }
        done = true;
        owner.join();
        wanting.join();
        waiter.interrupt();
        waiter.join();
        System.out.println("done");
    }
}
