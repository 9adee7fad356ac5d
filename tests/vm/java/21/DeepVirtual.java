import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads whose stacks are deep when they give up their carrier, and which compute in the innermost frames when they
 * are back: most of their frames are in the heap then. On their way out they compute and yield again, at each depth.
 *
 * Arguments: threads, depth, rounds of each, work of a round, `gc`: collections all the time.
 */
public class DeepVirtual {
    static volatile long sink;
    static volatile boolean isOver;
    static Object[] kept = new Object[64];

    static long spin(long work) {
        long x = work;
        for (long i = 0; i < work; i++) x = x * 31 + (i ^ (x >>> 5));
        return x;
    }

    static void work(int n, long work) {
        if (n % 7 == 3) LockSupport.parkNanos(1);
        else Thread.yield();
        sink += spin(work);
        kept[n & 63] = new byte[100];
        sink += copied(work / 64);
    }

    // The carrier cannot change while native code or the VM is on the stack.
    static long copied(long work) {
        byte[] from = new byte[(int) Math.min(work, 4096) + 1], to = from.clone();
        System.arraycopy(from, 0, to, 0, to.length);
        return to.length + Math.floorMod(System.nanoTime(), 3);
    }

    static long first(int n, int bottom, long work) {
        long below;
        if (n % 3 == 0) below = second(n - 1, bottom, work, n, n, n, n, n, n);
        else below = third(n - 1, bottom, work);
        if (n % 8 == 0) work(n, work / 8);
        return below + n;
    }

    // More arguments than go in registers.
    static long second(int n, int bottom, long work, long a, long b, long c, long d, long e, long f) {
        if (n <= bottom) {
            work(n, work);
            return a + f;
        }
        long below = n % 3 == 0 ? third(n - 1, bottom, work) : first(n - 1, bottom, work);
        return below + a + b + c + d + e + f;
    }

    static long third(int n, int bottom, long work) {
        if (n <= bottom) {
            work(n, work);
            return n;
        }
        Task next = n % 3 == 0 ? DeepVirtual::first : (m, least, more) -> second(m, least, more, m, m, m, m, m, m) + 1;
        return next.run(n - 1, bottom, work);
    }

    interface Task {
        long run(int n, int bottom, long work);
    }

    static void collect() {
        while (!isOver) {
            System.gc();
            kept = new Object[kept.length];
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]), depth = Integer.parseInt(args[1]), rounds = Integer.parseInt(args[2]);
        long work = Long.parseLong(args[3]);
        Thread collector = new Thread(DeepVirtual::collect);
        if (args.length > 4) collector.start();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int id = i;
            threads.add(Thread.ofVirtual().start(() -> {
                for (int round = 0; round < rounds; round++) sink += first(depth + id % 5, 0, work);
            }));
        }
        for (Thread thread : threads) thread.join();
        isOver = true;
        collector.join();
    }
}
