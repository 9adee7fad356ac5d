import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Masked MS: two threads, "masked" and "open", each use so many milliseconds of CPU time. */
public class Masked {
    static volatile long sink;

    static void masked(long ms) {
        use(ms);
    }

    static void open(long ms) {
        use(ms);
    }

    static void use(long ms) {
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        while (clock.getCurrentThreadCpuTime() < ms * 1000000) {
            for (int i = 0; i < 200000; i++) {
                sink += i;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        long ms = Long.parseLong(arguments[0]);
        Thread masked = new Thread(() -> masked(ms), "masked"), open = new Thread(() -> open(ms), "open");
        masked.start();
        open.start();
        masked.join();
        open.join();
        System.out.println("done");
    }
}
