package sun.misc;

/**
 * The native methods that JDK 8's sun.misc.Unsafe and later jdk.internal.misc.Unsafe have alike; to compile against.
 * compareAndSetLong is of 9 and later only: never called on 8, which has no virtual threads.
 */
public final class Unsafe {
  public static native Unsafe getUnsafe();

  public native int getInt(Object base, long offset);

  public native long getLong(Object base, long offset);

  public native void putInt(Object base, long offset, int value);

  public native void putLong(Object base, long offset, long value);

  public native void putLongVolatile(Object base, long offset, long value);

  public native long objectFieldOffset(java.lang.reflect.Field field);

  public native boolean compareAndSetLong(Object base, long offset, long expected, long value);
}
