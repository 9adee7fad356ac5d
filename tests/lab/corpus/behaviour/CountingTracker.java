import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A tracker that keeps everything: counts, the whole context of each thread, allocations by class. */
public final class CountingTracker {
  static final class Context {
    final List<long[]> nodes = new ArrayList<long[]>();  // parent, method
    long current;

    Context() {
      nodes.add(new long[] {0, -1});
    }

    long child(long parent, int method) {
      nodes.add(new long[] {parent, method});
      return nodes.size() - 1;
    }
  }

  static final ThreadLocal<Context> CONTEXT = new ThreadLocal<Context>() {
    @Override
    protected Context initialValue() {
      return new Context();
    }
  };
  static final int[] COUNTS = new int[100000];
  static final Map<String, Integer> ALLOCATED = new HashMap<String, Integer>();
  static int unwinds, constructed;
  static boolean used, passes;

  /** Of a constructor that constructed() follows, unless super() fails, the complement. */
  public static synchronized long enter(int method) {
    used = true;
    if (method < 0) method = ~method;
    COUNTS[method]++;
    Context context = CONTEXT.get();
    long prev = context.current;
    context.current = context.child(prev, method);
    return prev;
  }

  public static void exit(long prev) {
    CONTEXT.get().current = prev;
  }

  /** What the last method was called with, and what the last one that ended has returned. */
  static final ThreadLocal<Object[]> PASSED = new ThreadLocal<Object[]>();

  static final ThreadLocal<Object[]> RETURNED = new ThreadLocal<Object[]>();

  public static long arguments(int method, Object self, Object first, Object last, long firstValue, long lastValue) {
    passes = true;
    PASSED.set(new Object[] {self, first, last, firstValue, lastValue});
    return enter(method);
  }

  public static void result(long prev, Object result, long value) {
    RETURNED.set(new Object[] {result, value});
    exit(prev);
  }

  public static void unwind(long prev) {
    unwinds++;
    CONTEXT.get().current = prev;
  }

  public static long constructed(long prev) {
    constructed++;
    return prev;
  }

  public static void sync(long prev, int method) {
    Context context = CONTEXT.get();
    context.current = context.child(prev, method);
  }

  public static synchronized void leaf(int method) {
    COUNTS[method]++;
  }

  public static synchronized void allocated(Object object) {
    String name = object == null ? "null" : object.getClass().getName();
    Integer old = ALLOCATED.get(name);
    ALLOCATED.put(name, old == null ? 1 : old + 1);
  }

  public static void allocatedArrays(Object array, int dimensions) {
    allocated(array);
    if (dimensions == 1 || array == null) return;
    for (Object inner : (Object[]) array) allocatedArrays(inner, dimensions - 1);
  }

  public static void caught(Object exception, int method) {}

  public static void made(Object exception) {}

  /** Methods of the context of this thread, innermost first. */
  static List<Integer> path() {
    List<Integer> path = new ArrayList<Integer>();
    Context context = CONTEXT.get();
    for (long node = context.current; node != 0; node = context.nodes.get((int) node)[0]) {
      path.add((int) context.nodes.get((int) node)[1]);
    }
    return path;
  }
}
