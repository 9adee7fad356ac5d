import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two threads take turns in holding a lock, four times as long in {@code holdLong} as in {@code holdShort}, and two others want it
 * all the time. {@code Blame monitor|lock SECONDS}; prints how many microseconds it was held in each.
 */
public class Blame {
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static boolean isMonitor;
    static volatile int turn;
    static volatile long until;
    static final long[] HELD = new long[2];

    static void rest(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void holdLong() {
        rest(ThreadLocalRandom.current().nextInt(10, 30));
    }

    static void holdShort() {
        rest(ThreadLocalRandom.current().nextInt(2, 8));
    }

    static void hold(int who) {
        long from = System.nanoTime();
        if (who == 0) {
            holdLong();
        } else {
            holdShort();
        }
        HELD[who] += System.nanoTime() - from;
    }

    static void take(Runnable body) {
        if (isMonitor) {
            synchronized (MONITOR) {
                body.run();
            }
        } else {
            LOCK.lock();
            try {
                body.run();
            } finally {
                LOCK.unlock();
            }
        }
    }

    static void takeTurns(int who) {
        while (System.nanoTime() < until) {
            if (turn == who) {
                take(() -> hold(who));
                turn = 1 - who;
            } else {
                rest(1);
            }
        }
    }

    static void want() {
        while (System.nanoTime() < until) {
            take(() -> { });
            rest(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        isMonitor = arguments[0].equals("monitor");
        until = System.nanoTime() + Integer.parseInt(arguments[1]) * 1_000_000_000L;
        Thread[] threads = {
            new Thread(() -> takeTurns(0)), new Thread(() -> takeTurns(1)), new Thread(Blame::want), new Thread(Blame::want)
        };
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("held " + HELD[0] / 1000 + " " + HELD[1] / 1000);
    }
}
