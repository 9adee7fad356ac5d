import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.MessageDigest;
import java.util.function.LongUnaryOperator;

/**
 * Spends a known part of the CPU time of the thread `measured-30` in a known place. Arguments: the shape of that place, seconds of CPU
 * time, the percentages that it is to take, each in a thread of its own. Prints what it has taken by the clock of the thread: `SHARE 30 30.012`.
 *
 * The place and other work take turns of random length, some milliseconds each. The clock is read between turns. Everything is compiled
 * by another thread first. Shape `lines`: the loop of lines() alone, where three of four equal steps, each of which waits for the one
 * before, are on the line marked A; this ratio holds by construction.
 */
public class Spins {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static final LongUnaryOperator LAMBDA = n -> {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 35 + (i ^ (x >>> 8));
        return x;
    };
    static final byte[] FROM = new byte[65536], TO = new byte[65536];
    static volatile long sink;
    /** The carrier of the virtual thread that is measured; 0: the clock is that of the current thread. */
    static volatile long carrier;

    static long other(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 31 + (i ^ (x >>> 7));
        return x;
    }
    /** Is never inlined: see the options that the harness gives. */
    static long apart(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 33 + (i ^ (x >>> 9));
        return x;
    }
    static long inlined(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 37 + (i ^ (x >>> 5));
        return x;
    }
    static long beside(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x = x * 41 + (i ^ (x >>> 6));
        return x;
    }
    /** Both are inlined here; one of them has nothing to do. */
    static long both(long n, long mine, long others) {
        long x = 0;
        for (long i = 0; i < n; i++) x += inlined(mine) + beside(others);
        return x;
    }
    /** The time is in stubs of the VM, which copy and hash. */
    static long stubs(long n) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (long i = 0; i < n; i++) {
                for (int copies = 0; copies < 8; copies++) System.arraycopy(FROM, copies, TO, 64, 60000);
                digest.update(TO, 0, 8192);
            }
            return digest.digest()[0];
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
    static long lines(long x) {
        for (int i = 0; i < 4000; i++) {
            x = x * x + 1; x = x * x + 3; x = x * x + 5; x = x * x + 7; x = x * x + 9; x = x * x + 11;  // A
            x = x * x + 13; x = x * x + 15;  // B
        }
        return x;
    }
    /** lines() is inlined here. */
    static long around(long n) {
        long x = n;
        for (long i = 0; i < n; i++) x += lines(x + i);
        return x;
    }

    static long place(String shape, long n) {
        switch (shape) {
            case "inlined": return both(1 + n / 2000, Math.min(n, 2000), 0);
            case "lambda": return LAMBDA.applyAsLong(n);
            case "stubs": return stubs(n);
            case "lines": return around(n);
            default: return apart(n);
        }
    }
    static long rest(String shape, long n) {
        return shape.equals("inlined") ? both(1 + n / 2000, 0, Math.min(n, 2000)) : other(n);
    }

    static long clock() { return carrier == 0 ? CLOCK.getCurrentThreadCpuTime() : CLOCK.getThreadCpuTime(carrier); }

    /** Work of a millisecond. */
    static long calibrated(String shape, boolean place) {
        long n = 1;
        double best = 0;
        for (int round = 0; round < 100; round++) {
            long from = clock();
            sink += place ? place(shape, n) : rest(shape, n);
            long took = clock() - from;
            if (took < 500_000) n *= 2;
            else best = Math.max(best, n * 1e6 / took);
        }
        return Math.max(1, (long) best);
    }

    /** The share of the place, in percent. */
    static double measure(String shape, double part, double seconds, long mine, long others) {
        long first = clock(), inPlace = 0, now = first, seed = 42;
        while (now - first < seconds * 1e9) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            double milliseconds = 4 + 8 * ((seed >>> 33) / (double) (1L << 31));
            if (part < 1) sink += rest(shape, (long) (milliseconds * (1 - part) * others));
            long from = clock();
            sink += place(shape, Math.max(1, (long) (milliseconds * part * mine)));
            now = clock();
            inPlace += now - from;
        }
        return 100.0 * inPlace / (now - first);
    }

    static void run(Runnable what, String name, boolean isVirtual) throws Exception {
        Thread thread = new Thread(what, name);
        if (isVirtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
            type.getMethod("name", String.class).invoke(builder, name);
            thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, what);
        }
        thread.start();
        thread.join();
    }

    static long findCarrier() {
        for (long id : CLOCK.getAllThreadIds()) {
            if (CLOCK.getThreadInfo(id).getThreadName().startsWith("ForkJoinPool-1-worker")) return id;
        }
        throw new IllegalStateException("no carrier");
    }

    public static void main(String[] arguments) throws Exception {
        String shape = arguments[0];
        double seconds = Double.parseDouble(arguments[1]);
        boolean isVirtual = shape.equals("virtual");
        long[] speeds = new long[2];
        run(() -> {
            speeds[0] = calibrated(shape, true);
            speeds[1] = calibrated(shape, false);
        }, "warm", false);
        for (int i = 2; i < arguments.length; i++) {
            double part = Double.parseDouble(arguments[i]) / 100;
            double[] share = new double[1];
            run(() -> {
                if (isVirtual) carrier = findCarrier();
                share[0] = measure(shape, part, seconds, speeds[0], speeds[1]);
            }, "measured-" + arguments[i], isVirtual);
            System.out.println("SHARE " + arguments[i] + " " + share[0]);
        }
    }
}
