import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that fight over one monitor or lock, and measure by themselves how long they are kept from it. The first that
 * has it keeps it until all others wait for it, and main for a thread's end, so that each of them is kept waiting on a
 * machine of any load.
 *
 * Arguments: monitor|lock, threads, rounds of each, milliseconds in the monitor. Says `blocked <ms> times <n>` at the end.
 */
public class Contend {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final AtomicLong blocked = new AtomicLong();
    static final AtomicLong times = new AtomicLong();
    static final AtomicBoolean first = new AtomicBoolean(true);
    static final Thread main = Thread.currentThread(); // which loads this class
    static Thread[] threads;

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void passed(long since) {
        long ns = System.nanoTime() - since;
        blocked.addAndGet(ns);
        if (ns > 1_000_000) {
            times.incrementAndGet();
        }
    }

    static boolean othersAre(Thread.State state) {
        for (Thread thread : threads) {
            if (thread != Thread.currentThread() && thread.getState() != state) {
                return false;
            }
        }
        return true;
    }

    static void stay(long ms, Thread.State others) {
        if (first.compareAndSet(true, false)) {
            while (!othersAre(others) || main.getState() != Thread.State.WAITING) {
                pause(1);
            }
        }
        pause(ms);
    }

    static void inMonitor(long ms) {
        long since = System.nanoTime();
        synchronized (MONITOR) {
            passed(since);
            stay(ms, Thread.State.BLOCKED);
        }
    }

    static void inLock(long ms) {
        long since = System.nanoTime();
        LOCK.lock();
        try {
            passed(since);
            stay(ms, Thread.State.WAITING);
        } finally {
            LOCK.unlock();
        }
    }

    public static void main(String[] arguments) throws Exception {
        boolean lock = arguments[0].equals("lock");
        int rounds = Integer.parseInt(arguments[2]);
        int ms = Integer.parseInt(arguments[3]);
        threads = new Thread[Integer.parseInt(arguments[1])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread("contender-" + i) {
                @Override
                public void run() {
                    for (int round = 0; round < rounds; round++) {
                        if (lock) {
                            inLock(ms);
                        } else {
                            inMonitor(ms);
                        }
                        pause(1);
                    }
                }
            };
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("blocked " + blocked.get() / 1_000_000 + " times " + times);
    }
}
