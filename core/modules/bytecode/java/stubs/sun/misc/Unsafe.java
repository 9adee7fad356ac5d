package sun.misc;

/**
 * The native methods that JDK 8's sun.misc.Unsafe and later jdk.internal.misc.Unsafe have alike; to compile against.
 * Of the latter it is compareAndSetLong, which the core writes into the class file.
 */
public final class Unsafe {
  public static native Unsafe getUnsafe();

  public native int getInt(Object base, long offset);

  public native long getLong(Object base, long offset);

  public native void putInt(Object base, long offset, int value);

  public native void putLong(Object base, long offset, long value);

  public native void putLongVolatile(Object base, long offset, long value);

  public native long objectFieldOffset(java.lang.reflect.Field field);

  public native boolean compareAndSwapLong(Object base, long offset, long expected, long value);
}
