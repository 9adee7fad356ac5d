import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that mostly wait, each in a method of its own, and what time they spent there by their own clock:
 *
 *   SPENT computing 903.1     (milliseconds)
 *
 * Arguments: seconds; threads that are parked meanwhile (0); threads that live for a few milliseconds, one after the other (0).
 */
public class Wall {
    static volatile long sink;
    static volatile boolean done;
    static final Object held = new Object(), never = new Object();

    static void print(String what, long ns) {
        synchronized (System.out) {
            System.out.println("SPENT " + what + " " + ns / 100_000 / 10.0);
        }
    }

    static long compute() {
        long x = sink;
        for (int i = 0; i < 20_000; i++) x = x * 31 + (i ^ (x >>> 7));
        return x;
    }
    static void computing(long from) {
        while (System.nanoTime() - from < 30_000_000) sink = compute();
    }
    static void resting() throws InterruptedException { Thread.sleep(70); }
    static void mix() throws InterruptedException {
        long computed = 0, rested = 0, from = System.nanoTime();
        while (!done) {
            computing(from);
            long middle = System.nanoTime();
            resting();
            long end = System.nanoTime();
            computed += middle - from;
            rested += end - middle;
            from = end;
        }
        print("computing", computed);
        print("resting", rested);
    }

    static void blocked() {
        long from = System.nanoTime();
        synchronized (held) {
            sink++;
        }
        print("blocked", System.nanoTime() - from);
    }
    static void parked() {
        long from = System.nanoTime();
        while (!done) LockSupport.park();
        print("parked", System.nanoTime() - from);
    }
    static void waiting() throws InterruptedException {
        long from = System.nanoTime();
        synchronized (never) {
            while (!done) never.wait();
        }
        print("waiting", System.nanoTime() - from);
    }
    static void idling() {
        while (!done) LockSupport.park();
    }
    static void lingering() throws InterruptedException { Thread.sleep(3); }

    interface Body { void run() throws Exception; }
    static Thread start(String name, Body body) {
        Thread thread = new Thread(null, () -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name, 128 * 1024);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[0]);
        int idle = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        int shorts = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
        Thread[] idlers = new Thread[idle];
        for (int i = 0; i < idle; i++) idlers[i] = start("idle-" + i, Wall::idling);
        Thread[] others = new Thread[4];
        CountDownLatch there = new CountDownLatch(1);
        synchronized (held) {
            others[0] = start("mixed", Wall::mix);
            others[1] = start("blocked", Wall::blocked);
            others[2] = start("parked", Wall::parked);
            others[3] = start("waiting", Wall::waiting);
            long from = System.nanoTime();
            for (int i = 0; i < shorts; i++) {
                start("short-" + i, Wall::lingering).join();
            }
            if (shorts != 0) print("lingering", System.nanoTime() - from);
            while (System.nanoTime() - from < seconds * 1_000_000_000L) {
                there.await(10, java.util.concurrent.TimeUnit.MILLISECONDS);
            }
            done = true;
        }
        for (Thread thread : idlers) LockSupport.unpark(thread);
        LockSupport.unpark(others[2]);
        synchronized (never) {
            never.notifyAll();
        }
        for (Thread thread : others) thread.join();
        for (Thread thread : idlers) thread.join();
    }
}
