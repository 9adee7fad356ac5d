import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/** Two threads in a deadlock, and a pool that waits for a monitor which another thread keeps; with a number, so many virtual
 *  threads, which with "lock" wait for a lock that another one keeps, as a platform thread does. */
public class Hung {
    static final Object LEFT = new Object(), RIGHT = new Object(), KEPT = new Object();
    static final CountDownLatch BOTH = new CountDownLatch(2), IS_KEPT = new CountDownLatch(1);

    static void both(Object first, Object second) {
        synchronized (first) {
            BOTH.countDown();
            await(BOTH);
            synchronized (second) { throw new IllegalStateException(); }
        }
    }

    static void keep() {
        synchronized (KEPT) {
            IS_KEPT.countDown();
            park();
        }
    }

    static void park() { await(new CountDownLatch(1)); }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    static void hang() throws InterruptedException {
        start("left", () -> both(LEFT, RIGHT));
        start("right", () -> both(RIGHT, LEFT));
        start("keeper", Hung::keep);
        IS_KEPT.await();
        ExecutorService pool = Executors.newFixedThreadPool(3);
        for (int i = 0; i < 3; i++) pool.submit(() -> { synchronized (KEPT) { throw new IllegalStateException(); } });
    }

    static void startVirtual(String name, int count, Runnable task) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        CountDownLatch begun = new CountDownLatch(count);
        Runnable named = () -> {
            Thread.currentThread().setName(name);
            begun.countDown();
            task.run();
        };
        for (int i = 0; i < count; i++) start.invoke(null, named);
        begun.await();
    }

    static void hangVirtual(int count) throws Exception {
        ReentrantLock lock = new ReentrantLock();
        startVirtual("keeper", 1, () -> {
            lock.lock();
            IS_KEPT.countDown();
            park();
        });
        IS_KEPT.await();
        start("platform", lock::lock);
        startVirtual("waiter", count, lock::lock);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) hang();
        else if (arguments.length == 1) startVirtual("", Integer.parseInt(arguments[0]), Hung::park);
        else hangVirtual(Integer.parseInt(arguments[0]));
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) continue;
        System.exit(0);
    }
}
