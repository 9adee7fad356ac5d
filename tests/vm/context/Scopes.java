import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that work in nested scopes, each with a span of its own: work3 has span 4 and the label route:/3. Virtual ones
 * yield and park in between.
 *
 *   Scopes platform|virtual SECONDS     of CPU time; waits for the agent's class first
 *   Scopes platform|virtual SECONDS LIB has a tracer in native code instead, whose record of work5 is never valid
 *   Scopes crowd THREADS                as many threads that wait in a scope, at the same time
 *   Scopes labels COUNT                 as many different labels
 *   Scopes set COUNT                    a set of as many labels of 64 bytes
 *   Scopes users COUNT                  as many label sets without ids, each for 3 ms of CPU time
 *   Scopes waiting SECONDS              virtual threads that wait in work0 and work1
 */
public class Scopes {
    static final long HIGH = 0x0123456789abcdefL, LOW = 0xfedcba9876543210L;
    static volatile long sink;
    static volatile boolean stop;

    /** Loaded when the agent's class is there. */
    static class Context {
        static final MethodHandle SET, LABEL, ADD;
        static final int[] ROUTES = new int[8];

        static {
            try {
                Class<?> type = Class.forName("hprof.Context", true, null);
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                SET = lookup.findStatic(type, "set", MethodType.methodType(void.class, long.class, long.class, long.class, int.class));
                LABEL = lookup.findStatic(type, "label", MethodType.methodType(int.class, String.class, String.class));
                ADD = lookup.findStatic(type, "label", MethodType.methodType(int.class, int.class, String.class, String.class));
                for (int i = 0; i < ROUTES.length; i++) {
                    ROUTES[i] = (int) LABEL.invokeExact("route", "/" + i);
                }
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }
    }

    static boolean isNative;

    static native void publish(long high, long low, long span, boolean valid);

    static void scope(int k) {
        try {
            if (isNative) {
                publish(HIGH, LOW, k + 1L, k >= 0 && k != 5);
            } else if (k < 0) {
                Context.SET.invokeExact(0L, 0L, 0L, 0);
            } else {
                Context.SET.invokeExact(HIGH, LOW, k + 1L, Context.ROUTES[k]);
            }
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    static long burn(long x, int n) {
        for (int i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static final int STEPS = Integer.getInteger("steps", 3000);  // 4 us

    static void some() {
        sink = burn(sink | 1, STEPS);
    }

    static void pause(boolean isVirtual) {
        int random = ThreadLocalRandom.current().nextInt();
        if (!isVirtual) {
            if ((random & 7) == 0) Thread.yield();
        } else if ((random & 1) == 0) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(20000);
        }
    }

    static void work0(boolean v) { some(); }
    static void work1(boolean v) { some(); pause(v); some(); }
    static void work2(boolean v) { some(); pause(v); some(); in(3, 2, v); some(); pause(v); some(); }
    static void work3(boolean v) { some(); pause(v); some(); }
    static void work4(boolean v) { some(); in(1, 4, v); some(); in(2, 4, v); some(); }
    static void work5(boolean v) { some(); pause(v); some(); }
    static void work6(boolean v) { some(); in(4, 6, v); some(); pause(v); some(); }
    static void work7(boolean v) { some(); }

    static void in(int k, int outer, boolean v) {
        scope(k);
        try {
            switch (k) {
                case 0: work0(v); break;
                case 1: work1(v); break;
                case 2: work2(v); break;
                case 3: work3(v); break;
                case 4: work4(v); break;
                case 5: work5(v); break;
                case 6: work6(v); break;
                default: work7(v);
            }
        } finally {
            scope(outer);
        }
    }

    static Thread start(boolean isVirtual, Runnable body) throws Exception {
        if (isVirtual) {
            Method method = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) method.invoke(null, body);
        }
        Thread thread = new Thread(body);
        thread.start();
        return thread;
    }

    static void waitForAgent() throws Exception {
        for (;;) {
            try {
                Class.forName("hprof.Context", true, null);
                return;
            } catch (ClassNotFoundException notYet) {
                Thread.sleep(10);
            }
        }
    }

    static void work(boolean isVirtual, int seconds) throws Exception {
        Thread[] threads = new Thread[isVirtual ? 64 : 8];
        for (int i = 0; i < threads.length; i++) {
            final int first = i;
            threads[i] = start(isVirtual, () -> {
                for (int k = first & 7; !stop; k = (k + 1) & 7) {
                    in(k, -1, isVirtual);
                    outside();
                }
            });
        }
        long end = processCpu() + seconds * 1_000_000_000L;
        while (processCpu() < end) {
            Thread.sleep(20);
        }
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static long processCpu() {
        return ((com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static void outside() {
        some();
    }

    static void crowd(int count) throws Exception {
        CountDownLatch inside = new CountDownLatch(count), leave = new CountDownLatch(1);
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = start(false, () -> {
                scope(0);
                inside.countDown();
                try {
                    leave.await();
                } catch (InterruptedException unexpected) {
                    throw new AssertionError(unexpected);
                }
                scope(-1);
            });
        }
        inside.await();
        leave.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void labels(int count) {
        int last = 0, changes = 0;
        for (int i = 0; i < count; i++) {
            try {
                int number = (int) Context.LABEL.invokeExact("user", Integer.toString(i));
                changes += number != last ? 1 : 0;
                last = number;
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
        }
        System.out.println("different " + changes);
    }

    static void set(int count) throws Throwable {
        int last = 0, changes = 0;
        for (int i = 0; i < count; i++) {
            int number = (int) Context.ADD.invokeExact(last, String.format("name%04d", i), String.format("%055d", i));
            changes += number != last ? 1 : 0;
            last = number;
        }
        System.out.println("different " + changes);
    }

    static void users(int count) {
        for (int i = 0; i < count; i++) {
            try {
                Context.SET.invokeExact(0L, 0L, 0L, (int) Context.LABEL.invokeExact("user", Integer.toString(i)));
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
            for (int j = 0; j < 750; j++) {
                some();
            }
        }
    }

    static void waiting(int seconds) throws Exception {
        Thread[] threads = new Thread[20];
        for (int i = 0; i < threads.length; i++) {
            final int k = i & 1;
            threads[i] = start(true, () -> {
                scope(k);
                if (k == 0) {
                    rest0(seconds);
                } else {
                    rest1(seconds);
                }
                scope(-1);
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void rest0(int seconds) { LockSupport.parkNanos(seconds * 1_000_000_000L); }
    static void rest1(int seconds) { LockSupport.parkNanos(seconds * 1_000_000_000L); }

    public static void main(String[] arguments) throws Throwable {
        String pid = java.lang.management.ManagementFactory.getRuntimeMXBean().getName().split("@")[0];
        System.out.println("ready " + pid);
        isNative = arguments.length == 3;
        if (isNative) {
            System.load(arguments[2]);
        } else {
            waitForAgent();
        }
        int number = Integer.parseInt(arguments[1]);
        switch (arguments[0]) {
            case "crowd": crowd(number); break;
            case "labels": labels(number); break;
            case "set": set(number); break;
            case "users": users(number); break;
            case "waiting": waiting(number); break;
            default: work(arguments[0].equals("virtual"), number);
        }
        System.out.println("ended");
    }
}
