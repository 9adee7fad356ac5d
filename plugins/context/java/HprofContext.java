package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Writes contexts without a call of native code: the common cases of core/base/context_slots.h, from JDK 19 on, where a thread's id is the key.
 * In java.lang, which may use Unsafe. The agent sets the fields before hprof.Context calls set().
 */
public final class HprofContext {
  private static final Unsafe UNSAFE = Unsafe.getUnsafe();
  private static final int SEQUENCE = 8, REACH = 12, CONTEXT = 16, BYTES = 48; // the offsets in a slot

  /** The address of the first slot, and how many there are, a power of two, less one. */
  private static long slots, mask;

  /** The address of the texts of label sets, and the session whose numbers of sets count. */
  private static long texts;

  private static int session;

  private HprofContext() {}

  /** False: the slot that the id's hash leads to is another thread's, or keys went further than that. */
  public static boolean set(long thread, long traceHigh, long traceLow, long span, int labels) {
    Unsafe unsafe = UNSAFE;
    int text = labels >>> 17 == session ? unsafe.getInt(null, texts + (labels & 0x1FFFF) * 4L) : 0;
    boolean isNone = (traceHigh | traceLow | span | text) == 0;
    long slot = slots + (thread * 0x9E3779B97F4A7C15L >>> 40 & mask) * BYTES;
    long owner = unsafe.getLong(null, slot);
    if (owner != thread) {
      if (owner != 0 || unsafe.getInt(null, slot + REACH) != 0) return false;
      if (isNone) return true;
      if (!unsafe.compareAndSetLong(null, slot, 0, thread)) return false;
    }
    int sequence = unsafe.getInt(null, slot + SEQUENCE) | 1;
    unsafe.putInt(null, slot + SEQUENCE, sequence);
    unsafe.storeFence();
    unsafe.putInt(null, slot + CONTEXT, isNone ? 0 : 32); // hprof_context.size
    unsafe.putInt(null, slot + CONTEXT + 4, text);
    unsafe.putLong(null, slot + CONTEXT + 8, traceHigh);
    unsafe.putLong(null, slot + CONTEXT + 16, traceLow);
    unsafe.putLong(null, slot + CONTEXT + 24, span);
    unsafe.storeFence();
    unsafe.putInt(null, slot + SEQUENCE, sequence + 1);
    if (isNone) {
      unsafe.storeFence();
      unsafe.putLong(null, slot, 0);
    }
    return true;
  }
}
