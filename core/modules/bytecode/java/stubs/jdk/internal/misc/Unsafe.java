package jdk.internal.misc;

/** What classes that are defined on JDK 19 and later only use of it; to compile against. */
public final class Unsafe {
  public static native Unsafe getUnsafe();

  public native int getInt(Object base, long offset);

  public native long getLong(Object base, long offset);

  public native void putInt(Object base, long offset, int value);

  public native void putLong(Object base, long offset, long value);

  public native boolean compareAndSetLong(Object base, long offset, long expected, long value);

  public native void storeFence();
}
