import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Spends 50, 30 and 20 % of its CPU time in three methods by turns. Arguments: microseconds that a round takes, seconds of CPU time.
 * Prints what it measured of itself: `SHARE first 50.02`.
 *
 * How long a turn lasts is counted in loops, whose speed is measured beforehand, and the time of the three is taken by the processor's
 * counter (System.nanoTime): neither makes system calls. Work of all three is the same loop, compiled three times.
 */
public class Turns {
    static final String[] NAMES = {"first", "second", "third"};
    static final double[] PARTS = {0.5, 0.3, 0.2};
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    static long first(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 31 + (i ^ (x >>> 7));
        return x;
    }
    static long second(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 33 + (i ^ (x >>> 9));
        return x;
    }
    static long third(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 37 + (i ^ (x >>> 5));
        return x;
    }

    static long turn(int method, long n) {
        switch (method) {
            case 0: return first(n);
            case 1: return second(n);
            default: return third(n);
        }
    }

    /** Loops in a microsecond. */
    static double speed(int method) {
        double best = 0;
        for (int round = 0; round < 50; round++) {
            long from = System.nanoTime();
            sink += turn(method, 1_000_000);
            best = Math.max(best, 1e9 / (System.nanoTime() - from));
        }
        return best;
    }

    public static void main(String[] arguments) {
        double round = Double.parseDouble(arguments[0]);
        long wanted = (long) (Double.parseDouble(arguments[1]) * 1e9);
        double[] speeds = {speed(0), speed(1), speed(2)};
        long[] loops = new long[3], used = new long[3];
        for (int m = 0; m < 3; m++) loops[m] = (long) Math.max(1, round * PARTS[m] * speeds[m]);
        System.out.println("BEGIN");
        long from = CLOCK.getCurrentThreadCpuTime(), sum = 0;
        for (long i = 0; sum < wanted; i++) {
            for (int m = 0; m < 3; m++) {
                long start = System.nanoTime();
                sink += turn(m, loops[m]);
                // What the kernel took meanwhile was not the method's.
                used[m] += Math.min(System.nanoTime() - start, (long) (1.5 * 1000 * loops[m] / speeds[m]) + 20_000);
            }
            if (i % Math.max(1, (long) (20_000 / round)) == 0) sum = CLOCK.getCurrentThreadCpuTime() - from;
        }
        double total = used[0] + used[1] + used[2];
        for (int m = 0; m < 3; m++) System.out.printf("SHARE %s %.3f%n", NAMES[m], 100 * used[m] / total);
    }
}
