import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that compute, and threads that wait. Arguments: how many of each, seconds of CPU time of the computing ones together. Prints
 * what those have used by their own clocks: `CPU 10.003`.
 */
public class Many {
    static volatile long sink;

    static long spin(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 31 + (i ^ (x >>> 7));
        return x;
    }

    public static void main(String[] arguments) throws Exception {
        int running = Integer.parseInt(arguments[0]), idle = Integer.parseInt(arguments[1]);
        long each = (long) (Double.parseDouble(arguments[2]) * 1e9 / running);
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        AtomicLong used = new AtomicLong();
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < idle; i++) {
            Thread thread = new Thread(null, () -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    return;
                }
            }, "idle-" + i, 256 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        Thread[] threads = new Thread[running];
        for (int i = 0; i < running; i++) {
            threads[i] = new Thread(null, () -> {
                long now;
                do {
                    sink += spin(200_000);
                    now = clock.getCurrentThreadCpuTime();
                } while (now < each);
                used.addAndGet(now);
            }, "running-" + i, 256 << 10);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.printf("CPU %.4f%n", used.get() / 1e9);
        end.countDown();
    }
}
