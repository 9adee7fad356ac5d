package java.lang;

/** The targets of the probes of direct=y: the methods that take and free memory outside of the heap, and map files. */
public final class HprofDirect {
  /** Set while memory is counted. */
  static boolean live;

  /** What a method does, by the number that its probe passes: as in memory_methods.h. */
  private static final int FREES = 1, UNMAPS = 2, ALLOCATES = 3, REALLOCATES = 4;

  private static final int SIZE_BITS = 56;

  private HprofDirect() {}

  /** Frees are counted also when nothing else is: so blocks that outlive a stop are not taken for live ones. */
  public static long enter(int method, Object self, Object first, Object last, long firstValue, long lastValue) {
    if (method <= 0) return 0;
    if (method <= UNMAPS) {
      frees(method == UNMAPS ? self : null, firstValue);
      return 0;
    }
    if (!live) return 0;
    long size = 0;
    if (method <= REALLOCATES) {
      size = lastValue;
      if (size <= 0 || size >>> SIZE_BITS != 0) return 0;
      if (method == REALLOCATES && firstValue != 0) frees(null, firstValue);
    } else if (firstValue > 0 && firstValue >>> SIZE_BITS == 0) {
      size = firstValue;
    }
    return (long) method << SIZE_BITS | size;
  }

  public static void result(long call, Object result, long value) {
    if (call != 0) ends(call, result, value, Thread.currentThread());
  }

  public static void unwind(long call) {
    if (call != 0) fails(call);
  }

  private static native void frees(Object self, long address);

  private static native void ends(long call, Object result, long value, Thread thread);

  private static native void fails(long call);
}
