import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that wait: 5 of 10 in {@code parked}, 3 in {@code sleeping}, 2 in {@code awaiting}. {@code VirtualWaits COUNT
 * MILLIS direct|executor|scopes|beside}; with {@code scopes} every ten have an owner, a virtual thread or, of the first ten, main,
 * which waits in {@code owning}; with {@code beside} 50 others work, and yield, for some seconds of CPU time. Says
 * {@code LIVED MS} since the first was started.
 */
public class VirtualWaits {
    static CountDownLatch started;

    static void parked() {
        while (true) {
            LockSupport.park();
        }
    }

    static void sleeping() throws InterruptedException {
        Thread.sleep(3_600_000);
    }

    static void awaiting() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Condition never = lock.newCondition();
        lock.lock();
        while (true) {
            never.await();
        }
    }

    static void live(int place) {
        started.countDown();
        try {
            if (place < 5) {
                parked();
            } else if (place < 8) {
                sleeping();
            } else {
                awaiting();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Opens a structured scope of ten; StructuredTaskScope, a preview, is made of it. */
    static Object open() {
        try {
            Class<?> type = Class.forName("jdk.internal.misc.ThreadFlock");
            Object scope = type.getMethod("open", String.class).invoke(null, "ten");
            Method start = type.getMethod("start", Thread.class);
            for (int i = 0; i < 10; i++) {
                int place = i;
                start.invoke(scope, Thread.ofVirtual().unstarted(() -> live(place)));
            }
            return scope;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static void owning() {
        open();
        LockSupport.park();
    }

    static long worked;

    static void work() {
        long value = 1;
        for (int round = 0; round < 6_000; round++) {
            for (int i = 0; i < 8_000; i++) {
                value = value * 6364136223846793005L + 1442695040888963407L;
                value ^= value >>> 17;
            }
            Thread.yield();
        }
        worked += value;
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        started = new CountDownLatch(count);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        List<Thread> kept = new ArrayList<>();
        long from = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int place = i % 10;
            switch (arguments[2]) {
                case "direct", "beside" -> kept.add(Thread.startVirtualThread(() -> live(place)));
                case "executor" -> executor.execute(() -> live(place));
                default -> {
                    if (i == 0) {
                        open();
                    } else if (place == 0) {
                        kept.add(Thread.startVirtualThread(VirtualWaits::owning));
                    }
                }
            }
        }
        started.await();
        List<Thread> working = new ArrayList<>();
        for (int i = 0; i < 50 && arguments[2].equals("beside"); i++) {
            working.add(Thread.startVirtualThread(VirtualWaits::work));
        }
        for (Thread thread : working) {
            thread.join();
        }
        Thread.sleep(Integer.parseInt(arguments[1]));
        System.out.println("LIVED " + (System.nanoTime() - from) / 1_000_000);
        System.out.flush();
        Runtime.getRuntime().exit(0);
    }
}
