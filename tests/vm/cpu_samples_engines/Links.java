// Calls whose callers are easily taken for others: megamorphic ones in a row, recursion through several methods, lambdas. No class
// has two methods of a name; each part runs as many seconds of CPU time as the argument says.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Links {
  static volatile int sink;

  // --- megamorphic calls

  abstract static class Op {
    abstract int first(int v);

    abstract int second(int v);
  }

  static class A extends Op {
    int first(int v) {
      return v + 1;
    }

    int second(int v) {
      return v ^ 3;
    }
  }

  static class B extends Op {
    int first(int v) {
      return v + 5;
    }

    int second(int v) {
      return v ^ 7;
    }
  }

  static class C extends Op {
    int first(int v) {
      return v - 1;
    }

    int second(int v) {
      return v ^ 9;
    }
  }

  static class D extends Op {
    int first(int v) {
      return v * 3;
    }

    int second(int v) {
      return v ^ 1;
    }
  }

  static final Op[] OPS = {new A(), new B(), new C(), new D()};

  static int callFirst(int v) {
    return OPS[v & 3].first(v);
  }

  static int callSecond(int v) {
    return OPS[(v >> 2) & 3].second(v);
  }

  static int callBoth(int v) {
    return callSecond(callFirst(v));
  }

  static int mega(int s) {
    for (int i = 0; i < 1000000; i++) s = callBoth(s + i);
    return s;
  }

  // --- recursion

  static int down(int n, int v) {
    return n == 0 ? v : left(n - 1, v + 1) + 1;
  }

  static int left(int n, int v) {
    return n == 0 ? v : (v & 1) == 0 ? right(n - 1, v ^ 5) : down(n - 1, v * 3) + 2;
  }

  static int right(int n, int v) {
    return n == 0 ? v : down(n - 1, v + 7) ^ left(n >> 1, v);
  }

  static int deep(int s) {
    for (int i = 0; i < 10000; i++) s = down(24, s + i);
    return s;
  }

  // --- lambdas

  interface F {
    int f(int v);
  }

  interface G {
    int g(int v);
  }

  static final F[] FS = {v -> v + 1, v -> v ^ 5, v -> v - 9, v -> v * 3};
  static final G[] GS = {v -> byF(v) + 1, v -> byF(v ^ 5), v -> byF(byF(v)), v -> v * 7};

  static int byF(int v) {
    return FS[v & 3].f(v);
  }

  static int byG(int v) {
    return GS[(v >> 3) & 3].g(v);
  }

  static int lam(int s) {
    for (int i = 0; i < 1000000; i++) s = byG(byF(s + i));
    return s;
  }

  public static void main(String[] args) {
    final long most = (long) (Double.parseDouble(args[0]) * 1e9);
    final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    int s = 1;
    for (long end = clock.getCurrentThreadCpuTime() + most; clock.getCurrentThreadCpuTime() < end; ) s = mega(s);
    for (long end = clock.getCurrentThreadCpuTime() + most; clock.getCurrentThreadCpuTime() < end; ) s = deep(s);
    for (long end = clock.getCurrentThreadCpuTime() + most; clock.getCurrentThreadCpuTime() < end; ) s = lam(s);
    sink = s;
  }
}
