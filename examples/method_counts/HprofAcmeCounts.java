// SPDX-License-Identifier: Apache-2.0
package java.lang;

import sun.misc.Unsafe;

/**
 * What the probes of method_counts call: in java.lang, so that every class can, and inlined by the VM. The rules for it are
 * in hprof/service/probes.h.
 */
public final class HprofAcmeCounts {
  static final int MOST = 4096;
  static final Unsafe UNSAFE = Unsafe.getUnsafe();

  /** Set while the unit counts. */
  static boolean live;

  /** Address of the unit's counts, by number. */
  static long counts;

  private HprofAcmeCounts() {}

  /** Called once, before live is set. */
  static void prime() {
    counts = counts();
  }

  private static native long counts();

  /** A method begins. */
  public static void called(int number) {
    if (!live) return;
    long at = counts + ((number & MOST - 1) << 3), old;
    do {
      old = UNSAFE.getLong(null, at);
    } while (!UNSAFE.compareAndSwapLong(null, at, old, old + 1));
  }
}
