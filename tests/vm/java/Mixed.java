import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A little of everything that collectors watch: CPU time, calls, exceptions, allocations, threads that come and go,
 * contended monitors, waiting, parking, garbage collections. What it prints is always the same. The argument is the
 * number of rounds.
 */
public class Mixed {
    static final Object MONITOR = new Object();
    static long shared;
    static volatile Object kept;

    static long allocate(int n) {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            list.add(i % 3 == 0 ? new int[i % 50] : i % 3 == 1 ? new StringBuilder().append(i).toString() : new Object[2][3]);
        }
        kept = list;
        return list.size();
    }

    static int thrower(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("bottom");
        }
        return thrower(depth - 1) + 1;
    }

    static long catcher(int depth) {
        try {
            return thrower(depth);
        } catch (IllegalStateException e) {
            return depth;
        }
    }

    static void enter(int rounds) throws InterruptedException {
        for (int i = 0; i < rounds; i++) {
            synchronized (MONITOR) {
                shared++;
                MONITOR.wait(0, 1000);
            }
            LockSupport.parkNanos(100_000);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            CountDownLatch done = new CountDownLatch(4);
            for (int i = 0; i < 4; i++) {
                new Thread(() -> {
                    try {
                        enter(5);
                    } catch (InterruptedException e) {
                        shared = -1;
                    }
                    done.countDown();
                }, "mixed-" + i).start();
            }
            sum += Spin.hot(200_000) + allocate(2000) + catcher(10);
            done.await();
            System.gc();
        }
        System.out.println("sum " + sum + ", shared " + shared + ", kept " + ((List<?>) kept).size());
    }
}
