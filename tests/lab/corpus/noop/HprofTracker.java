package java.lang;
/** The tracker of the corpus test: it has all the methods that probes call, and does nothing. */
public final class HprofTracker {
  public static long enter(int method) { return 0; }
  public static void exit(long prev) {}
  public static long arguments(int method, Object self, Object first, Object last, long firstValue, long lastValue) { return 0; }
  public static void result(long prev, Object result, long value) {}
  public static void unwind(long prev) {}
  public static long constructed(long prev) { return prev; }
  public static void sync(long prev, int method) {}
  public static void leaf(int method) {}
  public static void allocated(Object object) {}
  public static void allocatedArrays(Object array, int dimensions) {}
  public static void caught(Object exception, int method) {}
  public static void made(Object exception) {}
}
