import java.util.concurrent.CountDownLatch;

/**
 * A fixed amount of work in monitors, for measuring. Arguments: `own` (each of four threads has a monitor of its own) or
 * `shared` (all four fight over one), and how often each thread goes through it.
 */
public class Monitors {
    static final int THREADS = 4;

    static long work(Object monitor, int rounds) {
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            synchronized (monitor) {
                sum += Spin.hot(2_000);
            }
            sum += Spin.hot(500);
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        boolean shared = arguments[0].equals("shared");
        int rounds = Integer.parseInt(arguments[1]);
        long[] sums = new long[THREADS];
        Object one = new Object();
        CountDownLatch gate = new CountDownLatch(1);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            Object monitor = shared ? one : new Object();
            threads[i] = new Thread(() -> {
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                sums[number] = work(monitor, rounds);
            });
            threads[i].start();
        }
        gate.countDown();
        long sum = 0;
        for (int i = 0; i < THREADS; i++) {
            threads[i].join();
            sum += sums[i];
        }
        System.out.println("monitors " + sum);
    }
}
