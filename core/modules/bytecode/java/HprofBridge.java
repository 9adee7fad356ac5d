package java.lang;

import jdk.internal.misc.CarrierThread;
import jdk.internal.vm.annotation.DontInline;

/**
 * Targets of probes for a unit that has native functions. Each such unit gets a copy of this class under a name of its
 * own, whose native methods are its functions. Here, too, the rules for targets hold: see hprof/service/probes.h.
 */
public final class HprofBridge {
  /** Set while the unit's probes are started. */
  static boolean isLive;

  /** Set before, on VMs with virtual threads. */
  static boolean carriers;

  /** Set before: the unit wants no calls on virtual threads. */
  static boolean platform;

  /** The unit's own word. */
  static long self;

  private HprofBridge() {}

  public static long begin(int method) {
    return isLive && (!carriers || isCounted()) ? begin(self, method) : 0;
  }

  public static long arguments(int method, Object self, Object first, Object last, long firstValue, long lastValue) {
    return isLive && (!carriers || isCounted())
        ? arguments(HprofBridge.self, method, self, first, last, firstValue, lastValue)
        : 0;
  }

  public static void end(long call) {
    if (call != 0) end(self, call);
  }

  public static void result(long call, Object result, long value) {
    if (call != 0) result(self, call, result, value);
  }

  public static void unwind(long call) {
    if (call != 0) unwind(self, call);
  }

  public static long constructed(long call) {
    return call != 0 ? constructed(self, call) : 0;
  }

  public static void handler(long call, int method) {
    if (call != 0) handler(self, call, method);
  }

  public static void leaf(int method) {
    if (isLive && (!carriers || isCounted())) leaf(self, method);
  }

  /** A new object or array. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void object(Object object) {
    if (isLive) object(self, object);
  }

  /**
   * The arrays that multianewarray has made: the outermost and, dimensions - 1 levels deep, those in it. Not recursive: every
   * native function finds one method of this class above its caller.
   */
  @java.lang.invoke.DontInline
  @DontInline
  public static void arrays(Object array, int dimensions) {
    if (!isLive) return;
    object(self, array);
    Object first = array;
    long count = 1;
    for (int level = 1; level < dimensions; level++) {
      int length = ((Object[]) first).length;
      if (length == 0) return;
      count *= length;
      for (long i = 0; i < count; i++) object(self, inner(array, level, i, count));
      first = ((Object[]) first)[0];
    }
  }

  /** Array i of the `count` ones of a level; the arrays of one level have the same length. */
  private static Object inner(Object array, int level, long i, long count) {
    for (; level > 0; level--) {
      Object[] outer = (Object[]) array;
      count /= outer.length;
      array = outer[(int) (i / count)];
      i %= count;
    }
    return array;
  }

  /** A constructor of Throwable ends; those of subclasses are still to end. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void made(Object exception) {
    if (isLive && !isCarrier()) made(self, exception);
  }

  /** A handler in that method begins. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void caught(Object exception, int method) {
    if (isLive && !isCarrier()) caught(self, exception, method);
  }

  private static boolean isCounted() {
    return !(Thread.currentThread() instanceof CarrierThread)
        && (!platform || Thread.currentThread() == Thread.currentCarrierThread());
  }

  /**
   * A carrier may be mounting or unmounting a virtual thread, in methods of several classes. JVMTI calls wait until no
   * thread does that: from such a thread, for ever.
   */
  private static boolean isCarrier() {
    return carriers && Thread.currentThread() instanceof CarrierThread;
  }

  private static native long begin(long self, int method);

  private static native long arguments(
      long word, int method, Object self, Object first, Object last, long firstValue, long lastValue);

  private static native void end(long self, long call);

  private static native void result(long self, long call, Object result, long value);

  private static native void unwind(long self, long call);

  private static native long constructed(long self, long call);

  private static native void handler(long self, long call, int method);

  private static native void leaf(long self, int method);

  private static native void object(long self, Object object);

  private static native void made(long self, Object exception);

  private static native void caught(long self, Object exception, int method);
}
