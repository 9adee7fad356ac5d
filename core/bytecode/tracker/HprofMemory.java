package java.lang;

import sun.misc.Unsafe;

/** A class of its own, so that the first live probe initialises Unsafe, not the first probe. */
final class HprofMemory {
  static final Unsafe UNSAFE = Unsafe.getUnsafe();

  private HprofMemory() {}
}
