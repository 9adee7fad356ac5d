package java.lang;

import sun.misc.Unsafe;

/** Apart from HprofTracker, so that Unsafe is not initialised by the first probe of all, but by the first live one. */
final class HprofMemory {
  static final Unsafe UNSAFE = Unsafe.getUnsafe();

  private HprofMemory() {}
}
