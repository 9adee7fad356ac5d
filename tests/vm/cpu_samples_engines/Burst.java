import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/** Arguments: threads, milliseconds of CPU time that each uses, ten at a time. Prints what they used: `USED 2513.4`. */
public class Burst {
    static final int AT_A_TIME = 10;
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static final AtomicLong used = new AtomicLong();
    static volatile long sink;

    static void burn(long ns) {
        long from = CLOCK.getCurrentThreadCpuTime(), now = from;
        while (now - from < ns) {
            sink += Spin.hot(2_000);
            now = CLOCK.getCurrentThreadCpuTime();
        }
        used.addAndGet(now - from);
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        long ns = Long.parseLong(arguments[1]) * 1_000_000;
        for (int from = 0; from < count; from += AT_A_TIME) {
            Thread[] threads = new Thread[AT_A_TIME];
            for (int i = 0; i < AT_A_TIME; i++) (threads[i] = new Thread(() -> burn(ns))).start();
            for (Thread thread : threads) thread.join();
        }
        System.out.println("USED " + used.get() / 100_000 / 10.0);
    }
}
