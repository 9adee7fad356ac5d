import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLongArray;

/** Work of three routes and two tenants: the method's name says of which; each unit of it makes one Item. */
public class TracedWork {
    static class Item { long value; }

    static final AtomicLongArray MADE = new AtomicLongArray(6);
    static volatile long sink;
    /** Where the framework's threads hand work over; on Java 21 and later a virtual thread for each task. */
    static final ExecutorService POOL = pool();

    static ExecutorService pool() {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException notYet) {
            return Executors.newFixedThreadPool(4);
        }
    }

    static long unit(long sum) {
        for (int i = 0; i < 2000; i++) sum = sum * 31 + i;
        return sum;
    }

    static void a0(int n) { for (int i = 0; i < n; i++) { Item item = new Item(); MADE.incrementAndGet(0); sink = unit(item.value); } }
    static void a1(int n) { for (int i = 0; i < n; i++) { Item item = new Item(); MADE.incrementAndGet(1); sink = unit(item.value); } }
    static void b0(int n) { for (int i = 0; i < n; i++) { Item item = new Item(); MADE.incrementAndGet(2); sink = unit(item.value); } }
    static void b1(int n) { for (int i = 0; i < n; i++) { Item item = new Item(); MADE.incrementAndGet(3); sink = unit(item.value); } }
    static void c0(int n) { for (int i = 0; i < n; i++) { Item item = new Item(); MADE.incrementAndGet(4); sink = unit(item.value); } }
    static void c1(int n) { for (int i = 0; i < n; i++) { Item item = new Item(); MADE.incrementAndGet(5); sink = unit(item.value); } }

    /** of: as a0. */
    static String work(String of) {
        int n = 300;
        switch (of) {
            case "a0": a0(n); break;
            case "a1": a1(n); break;
            case "b0": b0(n); break;
            case "b1": b1(n); break;
            case "c0": c0(n); break;
            default: c1(n);
        }
        return of;
    }

    /** A step on a thread that may wait: before and after it has slept, and on the threads of a pool. */
    static String steps(String of) throws Exception {
        work(of);
        Thread.sleep(1);
        work(of);
        CompletableFuture<String> other = CompletableFuture.supplyAsync(() -> work(of), POOL);
        POOL.submit(() -> {
            work(of);
            Thread.sleep(1);
            return work(of);
        }).get();
        return other.thenApplyAsync(TracedWork::work, POOL).get();
    }

    /** Two subtasks of a StructuredTaskScope, a preview of Java 21 to 25; without it nothing. */
    static void subtasks(String of) throws Exception {
        Class<?> type;
        try {
            type = Class.forName("java.util.concurrent.StructuredTaskScope");
        } catch (ClassNotFoundException notYet) {
            return;
        }
        Object scope = type.isInterface() ? type.getMethod("open").invoke(null) : type.getConstructor().newInstance();
        Method fork = type.getMethod("fork", Callable.class);
        // Each its own: a task that is handed over twice at once has a context once, for the tracer.
        for (int i = 0; i < 2; i++) {
            Callable<String> task = () -> {
                work(of);
                Thread.sleep(1);
                return work(of);
            };
            fork.invoke(scope, task);
        }
        type.getMethod("join").invoke(scope);
        ((AutoCloseable) scope).close();
    }

    /** Serves until standard input ends, then says how many items were made. */
    static void serve(int port) throws Exception {
        System.out.println("port " + port);
        while (System.in.read() >= 0) { }
        for (int i = 0; i < 6; i++) System.out.println("made " + "abc".charAt(i / 2) + i % 2 + " " + MADE.get(i));
        System.out.flush();
        System.exit(0);
    }
}
