import java.io.FileOutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Requests of three routes and two tenants, one of whose routes calls another, on the threads of a pool, or each on a virtual
 * thread of its own. Says what belongs to whom: "of ROUTE TENANT COUNT".
 *
 *   Routes platform|virtual make REQUESTS   Items made, and as many byte[100]
 *   Routes platform|virtual lock REQUESTS   times that Routes.enter was blocked on a Lock, which route:/holder held
 *   Routes platform|virtual call REQUESTS   calls of Routes.called
 *   Routes platform|virtual wait REQUESTS   calls of Object.wait
 *   Routes platform|virtual slow REQUESTS   calls of Routes.sleeps, which takes 30 ms
 *   Routes platform|virtual write REQUESTS  bytes written, each by a call, to a file
 *   Routes platform|virtual spin REQUESTS   rounds, all of which take the same CPU time
 *   Routes platform many SETS               Items made, one for each label set
 *   Routes platform death THREADS           nothing: the VM ends while threads set contexts and work
 *
 * A request N has the trace id TRACE, N + 1, and in its scopes the span ids 1 + 2 * route + tenant.
 */
public class Routes {
    static final int ROUTES = 3, TENANTS = 2;
    static final long TRACE = 0x4bf92f3577b34da6L;
    static final int[][] SETS = new int[ROUTES][TENANTS];
    static final AtomicLongArray COUNTS = new AtomicLongArray(ROUTES * TENANTS + 1);
    static MethodHandle set;
    static boolean isVirtual;
    static volatile Object sink;

    static class Item { long a, b; }

    static class Lock { volatile Thread blocked; }

    interface Work { void run(int of, int amount) throws Exception; }

    /** -1, -1: nobody's. */
    static void scope(int number, int route, int tenant) throws Exception {
        try {
            if (route < 0) {
                set.invokeExact(0L, 0L, 0L, 0);
            } else {
                set.invokeExact(TRACE, number + 1L, 1L + route * TENANTS + tenant, SETS[route][tenant]);
            }
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    /** Route 2 calls route 0. */
    static void request(int number, Work work) throws Exception {
        int route = number % ROUTES, tenant = number / ROUTES % TENANTS;
        scope(number, route, tenant);
        work(route, tenant, number, work);
        if (route == 2) {
            scope(number, 0, tenant);
            work(0, tenant, number, work);
            scope(number, 2, tenant);
            work(2, tenant, number, work);
        }
        scope(number, -1, -1);
        work.run(ROUTES * TENANTS, 1);
    }

    static void work(int route, int tenant, int number, Work work) throws Exception {
        work.run(route * TENANTS + tenant, 1 + number % 5);
        if (number % 4 == 0) LockSupport.parkNanos(1000);
        if (number % 4 == 1) Thread.yield();
        work.run(route * TENANTS + tenant, 1 + tenant);
    }

    static void make(int of, int amount) {
        for (int i = 0; i < amount; i++) {
            sink = new Item();
            sink = new byte[100];
        }
        COUNTS.addAndGet(of, amount);
    }

    static final Lock LOCK = new Lock();

    static void lock(int of, int amount) throws Exception {
        for (int i = 0; i < amount && of < ROUTES * TENANTS; i++) {
            while (!isHeld) Thread.sleep(1);
            enter();
            COUNTS.incrementAndGet(of);
        }
    }

    /** The holder has the lock, and leaves when this thread is blocked. */
    static void enter() {
        LOCK.blocked = Thread.currentThread();
        synchronized (LOCK) {
            LOCK.blocked = null;
        }
    }

    static volatile boolean isOver, isHeld;

    static void hold(int set) {
        try {
            Routes.set.invokeExact(0L, 0L, 0L, set);
            while (!isOver) {
                synchronized (LOCK) {
                    Thread thread;
                    isHeld = true;
                    while (!isOver && ((thread = LOCK.blocked) == null || thread.getState() != Thread.State.BLOCKED)) Thread.sleep(1);
                    isHeld = false;
                }
                while (!isOver && LOCK.blocked != null) Thread.sleep(1);
            }
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    static void called() {
        sink = null;
    }

    static void call(int of, int amount) {
        for (int i = 0; i < amount; i++) called();
        COUNTS.addAndGet(of, amount);
    }

    static void waits(int of, int amount) throws Exception {
        Object monitor = new Lock();
        for (int i = 0; i < amount; i++) {
            synchronized (monitor) {
                monitor.wait(1);
            }
        }
        COUNTS.addAndGet(of, amount);
    }

    static void sleeps() throws Exception {
        Thread.sleep(30);
    }

    static void slow(int of, int amount) throws Exception {
        sleeps();
        COUNTS.incrementAndGet(of);
    }

    static void write(int of, int amount) throws Exception {
        try (FileOutputStream file = new FileOutputStream("written", true)) {
            for (int i = 0; i < amount; i++) file.write(of);
        }
        COUNTS.addAndGet(of, amount);
    }

    static volatile long result;

    static void spin(int of, int amount) {
        long x = of + 1;
        for (int i = 0; i < amount * 300_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        result = x;
        COUNTS.addAndGet(of, amount);
    }

    /** Names and values have what separates labels, and control characters. */
    static void many(int sets, MethodHandle label) throws Throwable {
        for (int i = 0; i < sets; i++) {
            int set = (int) label.invokeExact("us\ner:", "\u0001" + i + ";\u007f\t");
            Routes.set.invokeExact(0L, 0L, 0L, set);
            make(ROUTES * TENANTS, 1);
            called();
        }
    }

    static void dieAt(MethodHandle label) {
        try {
            for (int i = 0; ; i++) {
                int set = (int) label.invokeExact("round", "" + i % 100);
                Routes.set.invokeExact(TRACE, (long) i, (long) i, set);
                make(0, 10);
                waits(0, 1);
                called();
                synchronized (LOCK) {
                    spin(0, 1);
                }
            }
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    static Work work(String name) {
        switch (name) {
            case "make": return Routes::make;
            case "lock": return Routes::lock;
            case "wait": return Routes::waits;
            case "slow": return Routes::slow;
            case "write": return Routes::write;
            case "spin": return Routes::spin;
            default: return Routes::call;
        }
    }

    static ExecutorService pool(boolean isOne) throws Exception {
        if (!isVirtual) return Executors.newFixedThreadPool(isOne ? 1 : 4);
        return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    public static void main(String[] arguments) throws Throwable {
        Class<?> type = Class.forName("hprof.Context", true, null);
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        set = lookup.findStatic(type, "set", MethodType.methodType(void.class, long.class, long.class, long.class, int.class));
        MethodHandle label = lookup.findStatic(type, "label", MethodType.methodType(int.class, String.class, String.class));
        MethodHandle add = lookup.findStatic(type, "label", MethodType.methodType(int.class, int.class, String.class, String.class));
        for (int i = 0; i < ROUTES; i++) {
            for (int j = 0; j < TENANTS; j++) {
                SETS[i][j] = (int) add.invokeExact((int) label.invokeExact("route", "/" + i), "tenant", "t" + j);
            }
        }
        if (arguments[1].equals("many")) {
            many(Integer.parseInt(arguments[2]), label);
            return;
        }
        if (arguments[1].equals("death")) {
            for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
                Thread thread = new Thread(() -> dieAt(label));
                thread.setDaemon(true);
                thread.start();
            }
            while (COUNTS.get(0) < 10_000) Thread.sleep(1);
            return;
        }
        int holder = (int) label.invokeExact("route", "/holder");
        isVirtual = arguments[0].equals("virtual");
        boolean isLock = arguments[1].equals("lock");
        Work work = work(arguments[1]);
        Thread holds = new Thread(() -> hold(holder));
        if (isLock) holds.start();
        for (int i = 0; i < 50 && arguments[1].equals("spin"); i++) spin(0, 1);
        COUNTS.set(0, 0);
        ExecutorService pool = pool(isLock);
        for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
            int number = i;
            Runnable task = () -> {
                try {
                    request(number, work);
                } catch (Throwable error) {
                    error.printStackTrace();
                }
            };
            if (isLock) {
                pool.submit(task).get();
            } else {
                pool.execute(task);
            }
        }
        pool.shutdown();
        if (!pool.awaitTermination(1000, TimeUnit.SECONDS)) throw new AssertionError("requests that do not end");
        isOver = true;
        holds.join();
        for (int i = 0; i < ROUTES * TENANTS; i++) {
            System.out.println("of /" + i / TENANTS + " t" + i % TENANTS + " " + COUNTS.get(i));
        }
        System.out.println("of nobody - " + COUNTS.get(ROUTES * TENANTS));
    }
}
