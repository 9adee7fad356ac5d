import java.lang.reflect.Method;
import java.util.function.IntUnaryOperator;

/** Calls that can be counted by hand; see test_cpu_times.py. `Calls virtual N` runs N virtual threads besides. */
public class Calls {
    interface Shape { int area(); }
    static final class Square implements Shape { final int a; Square(int a) { this.a = a; } public int area() { return a * a; } }
    static class Broken { Broken(int n) { if (n % 2 == 0) throw new IllegalArgumentException("even"); } }

    static int sink;
    static volatile boolean worked;

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static void thrower(int n) { if (n == 0) throw new IllegalStateException("bottom"); thrower(n - 1); }
    static int catcher() { try { thrower(10); return 0; } catch (IllegalStateException e) { return afterCatch(); } }
    static int afterCatch() { return fib(1); }
    static int broken(int n) { try { return new Broken(n).hashCode() == 0 ? 1 : 0; } catch (IllegalArgumentException e) { return afterBroken(); } }
    static int afterBroken() { return fib(0); }
    static int finallyOf(int n) { try { if (n > 0) thrower(n); return 0; } catch (IllegalStateException e) { return 1; } finally { inFinally(); } }
    static void inFinally() { sink += fib(1); }
    static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
    static void overflow() { sink++; overflow(); }
    static int afterOverflow() { return fib(1); }
    static int apply(IntUnaryOperator f, int n) { int sum = 0; for (int i = 0; i < n; i++) sum += f.applyAsInt(i); return sum; }
    static int plus(int n) { return n + fib(1); }
    static synchronized int locked(int n) { return fib(0) + n; }

    /** 1 + 20 + 20 calls. */
    static void work() { for (int i = 0; i < 20; i++) step(); }
    static void step() { nap(); }
    static void nap() { try { Thread.sleep(1); } catch (InterruptedException e) { throw new IllegalStateException(e); } }

    static void spin(long rounds) { for (long i = 0; i < rounds; i++) sink += burn(); }
    static int burn() { int x = 1; for (int i = 0; i < 2000; i++) x = x * 31 + i; return x; }

    static void virtual(int n) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) threads[i] = (Thread) start.invoke(null, (Runnable) Calls::work);
        for (Thread thread : threads) thread.join();
    }

    static void platform(int n) throws Exception {
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) (threads[i] = new Thread(Calls::work, "worker-" + i)).start();
        for (Thread thread : threads) thread.join();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 2 && arguments[0].equals("virtual")) { virtual(Integer.parseInt(arguments[1])); System.out.println("done"); return; }
        if (arguments.length == 2 && arguments[0].equals("spin")) { spin(Long.parseLong(arguments[1])); System.out.println("done"); return; }
        int r = fib(20);
        for (int i = 0; i < 100; i++) r += catcher();
        for (int i = 0; i < 50; i++) r += broken(i);
        for (int i = 0; i < 5; i++) r += finallyOf(i);
        Shape square = new Square(2);
        for (int i = 0; i < 1000; i++) r += square.area();
        r += deep(500);
        for (int i = 0; i < 3; i++) { try { overflow(); } catch (StackOverflowError e) { r += afterOverflow(); } }
        r += apply(Calls::plus, 10) + apply(n -> n * plus(n), 10);
        for (int i = 0; i < 7; i++) r += locked(i);
        platform(5);
        Thread idle = new Thread(() -> { work(); worked = true; try { Thread.sleep(100000); } catch (InterruptedException e) { } }, "idle");
        idle.setDaemon(true);
        idle.start();
        while (!worked) Thread.sleep(1);
        System.out.println(r);
    }
}
