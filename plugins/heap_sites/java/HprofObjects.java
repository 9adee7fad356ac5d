package java.lang;

import jdk.internal.vm.annotation.DontInline;
import sun.misc.Unsafe;

/** The targets of the probes of exact heap=sites: new objects, with their headers. */
public final class HprofObjects {
  /** Set while allocations are counted. */
  static boolean live;

  /**
   * Offset of the eight bytes of any object that identify its class and hold an array's length; -1: not on this VM.
   * Read here, where no collector moves the object; the first four become the lower half.
   */
  static long headerAt = -1;

  private HprofObjects() {}

  /** Called before live is set: what initialises a class of the JDK, which has probes. */
  static void prime() {
    HprofObjectsMemory.UNSAFE.hashCode();
  }

  /** A new object or array. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void allocated(Object object) {
    if (live) tell(object);
  }

  /** The arrays that multianewarray has made: the outermost and, dimensions - 1 levels deep, those in it. */
  public static void allocatedArrays(Object array, int dimensions) {
    if (!live) return;
    tell(array);
    if (dimensions < 2) return;
    Object[] inner = (Object[]) array;
    for (int i = 0; i < inner.length; i++) allocatedArrays(inner[i], dimensions - 1);
  }

  private static void tell(Object object) {
    allocatedObject(object, headerAt < 0 ? 0 : headerOf(object));
  }

  /** Reads the eight bytes in the two halves in which they were just written: one load of both would stall. */
  private static long headerOf(Object object) {
    Unsafe unsafe = HprofObjectsMemory.UNSAFE;
    long at = headerAt;
    return (long) unsafe.getInt(object, at + 4) << 32 | unsafe.getInt(object, at) & 0xFFFFFFFFL;
  }

  private static native void allocatedObject(Object object, long header);
}

/** A class of its own, so that the first live probe initialises Unsafe, not the first probe. */
final class HprofObjectsMemory {
  static final Unsafe UNSAFE = Unsafe.getUnsafe();

  private HprofObjectsMemory() {}
}
