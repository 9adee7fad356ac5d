import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Nanoseconds for each call, of the best of some rounds: `CallCosts recursive`, `CallCosts megamorphic`, and `CallCosts short`,
 * rounds of a millisecond or a few, some of which a busy machine leaves alone. `CallCosts arrays`: the same for each small array
 * made, without the first hundred rounds, before which nothing had to be collected or remembered. `CallCosts contexts`: for each
 * span that it says to the agent.
 */
public class CallCosts {
    interface Shape { int area(int n); }
    static final class A implements Shape { public int area(int n) { return add(n, 1); } }
    static final class B implements Shape { public int area(int n) { return add(n, 2); } }
    static final class C implements Shape { public int area(int n) { return add(n, 3); } }
    static final class D implements Shape { public int area(int n) { return add(n, 4); } }
    static final class E implements Shape { public int area(int n) { return add(n, 5); } }
    static final class F implements Shape { public int area(int n) { return add(n, 6); } }
    static final class G implements Shape { public int area(int n) { return add(n, 7); } }
    static final class H implements Shape { public int area(int n) { return add(n, 8); } }
    static final Shape[] SHAPES = {new A(), new B(), new C(), new D(), new E(), new F(), new G(), new H()};

    static int add(int a, int b) { return a * 31 + b; }
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    /** 2,000,000 calls, half of them of leaves. */
    static int areas() {
        int sum = 0;
        for (int i = 0; i < 1000000; i++) sum += SHAPES[i * 5 & 7].area(i);
        return sum;
    }

    /** Loaded when the agent's class is there. */
    static class Spans {
        static final MethodHandle SET;

        static {
            try {
                SET = MethodHandles.lookup().findStatic(Class.forName("hprof.Context", true, null), "set",
                    MethodType.methodType(void.class, long.class, long.class, long.class, int.class));
            } catch (ReflectiveOperationException error) {
                throw new AssertionError(error);
            }
        }

        static int set() {
            try {
                for (int i = 0; i < 1000; i++) SET.invokeExact(1L, 2L, (long) i, 0);
            } catch (Throwable error) {
                throw new AssertionError(error);
            }
            return 0;
        }
    }

    static int[] kept;

    static int arrays() {
        for (int i = 0; i < 1000; i++) kept = new int[4];
        return kept.length;
    }

    public static void main(String[] arguments) {
        boolean megamorphic = arguments[0].equals("megamorphic"), arrays = arguments[0].equals("arrays");
        boolean contexts = arguments[0].equals("contexts"), isShort = arrays || contexts || arguments[0].equals("short");
        double calls = arrays || contexts ? 1000 : isShort ? 8361 : megamorphic ? 2000000 : 635621;
        double best = Double.MAX_VALUE;
        int sink = 0;
        long until = System.nanoTime() + 3000000000L;
        for (int round = 0; round < (isShort ? 1000 : 20) && (!isShort || System.nanoTime() < until); round++) {
            long begin = System.nanoTime();
            sink += contexts ? Spans.set() : arrays ? arrays() : megamorphic ? areas() : fib(isShort ? 18 : 27);
            if (!arrays || round >= 100) best = Math.min(best, (System.nanoTime() - begin) / calls);
        }
        System.out.println(best + " " + sink);
    }
}
