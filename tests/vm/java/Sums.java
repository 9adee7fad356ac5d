import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.zip.CRC32;

/** Threads that use CPU time in different ways; says on stderr what each used: its name, CPU time and elapsed time in ns. */
public class Sums {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile int sink;

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static void recursion() { sink += fib(18); }

    static void fail(int n) { if (n == 0) throw new IllegalStateException(); fail(n - 1); }
    static void exceptions() { for (int i = 0; i < 200; i++) { try { fail(i % 8); } catch (IllegalStateException e) { sink++; } } }

    static final byte[] BYTES = new byte[1 << 20];
    static void natives() { CRC32 sum = new CRC32(); sum.update(BYTES); System.arraycopy(BYTES, 0, BYTES, 1, 1 << 19); sink += (int) sum.getValue(); }

    static void loop() { int x = 1; for (int i = 0; i < 300000; i++) x = x * 31 + i; sink += x; }

    static void naps() { loop(); try { Thread.sleep(2); } catch (InterruptedException e) { throw new IllegalStateException(e); } }

    /** used: CPU time, elapsed time. Nothing that takes long comes after the clocks were read. */
    static void use(Runnable step, long ns, long[] used) {
        long begin = System.nanoTime();
        while (CLOCK.getCurrentThreadCpuTime() < ns) step.run();
        used[1] = System.nanoTime() - begin;
        used[0] = CLOCK.getCurrentThreadCpuTime();
    }

    public static void main(String[] arguments) throws Exception {
        final long ns = Long.parseLong(arguments[0]) * 1000000;
        CLOCK.getCurrentThreadCpuTime();
        Runnable[] steps = {Sums::recursion, Sums::exceptions, Sums::natives, Sums::loop, Sums::naps};
        String[] names = {"recursion", "exceptions", "natives", "loop", "naps"};
        Thread[] threads = new Thread[steps.length];
        long[][] used = new long[steps.length][2];
        for (int i = 0; i < steps.length; i++) {
            final Runnable step = steps[i];
            final long[] mine = used[i];
            (threads[i] = new Thread(() -> use(step, ns, mine), names[i])).start();
        }
        for (Thread thread : threads) thread.join();
        for (int i = 0; i < steps.length; i++) System.err.println("used " + names[i] + " " + used[i][0] + " " + used[i][1]);
        System.out.println("done");
    }
}
