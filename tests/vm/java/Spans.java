/**
 * Two threads that spin, in turns in a call of Inside.work and outside of one; prints how many calls there were. With an
 * argument four virtual ones, each of which yields in a method of its own in place of Inside.work.
 */
public class Spans {
    static final int ROUNDS = 20;

    static class Inside {
        static long work(int n) {
            return spin(n);
        }

        // A method for each thread, since samples lack callers whose frames are in the heap.
        static long yield0(int n) {
            return spin(n) + pause() + spin(n);
        }

        static long yield1(int n) {
            return spin(n) + pause() + spin(n);
        }

        static long yield2(int n) {
            return spin(n) + pause() + spin(n);
        }

        static long yield3(int n) {
            return spin(n) + pause() + spin(n);
        }
    }

    static long pause() {
        Thread.yield();
        return 1;
    }

    static long spin(int n) {
        long value = n;
        for (long i = 0; i < n; i++) { // with a poll for safepoints, on JDK 8 too
            value = value * 6364136223846793005L + 1442695040888963407L;
            value ^= value >>> 17;
        }
        return value;
    }

    static long outside(int n) {
        return spin(n);
    }

    static long sum;

    static void run() {
        long value = 0;
        for (int i = 0; i < ROUNDS; i++) {
            value += Inside.work(10_000_000) + 31 * outside(10_000_000);
        }
        synchronized (Spans.class) {
            sum += value;
        }
    }

    static void takeTurns(java.util.function.IntToLongFunction inside) {
        long value = 0;
        for (int i = 0; i < 10 * ROUNDS; i++) {
            value += inside.applyAsLong(500_000) + 31 * outside(500_000);
        }
        synchronized (Spans.class) {
            sum += value;
        }
    }

    static void runVirtual() throws Exception {
        Runnable[] bodies = {
            () -> takeTurns(Inside::yield0), () -> takeTurns(Inside::yield1), () -> takeTurns(Inside::yield2), () -> takeTurns(Inside::yield3)
        };
        Thread[] threads = new Thread[bodies.length];
        for (int i = 0; i < bodies.length; i++) {
            threads[i] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, bodies[i]);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println((sum != 0 ? "calls " : "none ") + bodies.length * 10 * ROUNDS);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 0) {
            runVirtual();
            return;
        }
        Thread[] threads = {new Thread(Spans::run, "first"), new Thread(Spans::run, "second")};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println((sum != 0 ? "calls " : "none ") + threads.length * ROUNDS);
    }
}
