/**
 * Nanoseconds for each call, of the best of some rounds: `CallCosts recursive`, `CallCosts megamorphic`, and `CallCosts short`,
 * rounds of a millisecond at most, some of which a busy machine leaves alone.
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

    public static void main(String[] arguments) {
        boolean megamorphic = arguments[0].equals("megamorphic"), isShort = arguments[0].equals("short");
        double calls = isShort ? 8361 : megamorphic ? 2000000 : 635621;
        double best = Double.MAX_VALUE;
        int sink = 0;
        for (int round = 0; round < (isShort ? 1000 : 20); round++) {
            long begin = System.nanoTime();
            sink += megamorphic ? areas() : fib(isShort ? 18 : 27);
            best = Math.min(best, (System.nanoTime() - begin) / calls);
        }
        System.out.println(best + " " + sink);
    }
}
