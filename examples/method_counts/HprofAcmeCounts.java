// SPDX-License-Identifier: Apache-2.0
package java.lang;

/**
 * What the probes of method_counts call: in java.lang, so that every class can, and inlined by the VM. The rules for it are
 * in hprof/service/probes.h.
 */
public final class HprofAcmeCounts {
  static final int MOST = 4096;

  /** Set while the unit counts. */
  static boolean live;

  /** Calls by number; two threads that count at the same moment may count one. */
  static long[] counts;

  private HprofAcmeCounts() {}

  /** Called once, before live is set: no object is made later. */
  static void prime() {
    counts = new long[MOST];
  }

  /** A method begins. */
  public static void called(int number) {
    if (live) counts[number & MOST - 1]++;
  }
}
