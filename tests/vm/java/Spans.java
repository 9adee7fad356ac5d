/** Two threads that spin, in turns in a call of Inside.work and outside of one; prints how many calls there were. */
public class Spans {
    static final int ROUNDS = 20;

    static class Inside {
        static long work(int n) {
            return spin(n);
        }
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

    public static void main(String[] arguments) throws Exception {
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
