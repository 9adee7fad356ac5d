package java.lang;

import jdk.internal.vm.annotation.DontInline;
import sun.misc.Unsafe;

/**
 * The targets of the probes of calls=y: the beginning of each counted call. The rules for targets are those of
 * hprof/service/probes.h.
 *
 * <p>Each platform thread has counts of its own, outside of the heap, which only it writes: a directory of pages, by the
 * high bits of a method's number, with the counts by its low bits. A hash table finds the directory by Thread.eetop, the
 * address of the VM's own thread, so that no class gets a field and the unit can be attached. A virtual thread counts for
 * the thread that carries it, and cannot be unmounted between the load of a count and its store.
 *
 * <p>Where the thread has no directory, or that no page yet, the unit makes them, or adds to the counts of all threads
 * atomically: no call is lost for want of memory. The offsets below are shared with thread_counts.h.
 */
public final class HprofCounts {
  static final int PAGE_BITS = 9;
  static final int PAGES = 512;

  // An entry of the table: the key, the address of a directory.
  static final int ENTRY_BITS = 4;
  static final int TABLE_BITS = 14;
  static final int TRIES = 8;
  static final long MIX = 0x9E3779B97F4A7C15L;

  /** Set while the unit counts; never before VMInit. */
  static boolean live;

  private HprofCounts() {}

  /** Called before live is set: what initialises classes of the JDK, whose probes would come back here for ever. */
  static void prime() {
    HprofCountsMemory.UNSAFE.hashCode();
  }

  /** A method begins. In VMs without virtual threads. */
  public static void called(int method) {
    if (live) count(Thread.currentThread(), method);
  }

  /** A method begins. In VMs with virtual threads. */
  public static void calledOnCarrier(int method) {
    if (live) count(Thread.currentCarrierThread(), method);
  }

  private static void count(Thread thread, int method) {
    Unsafe unsafe = HprofCountsMemory.UNSAFE;
    long key = unsafe.getLong(thread, HprofCountsMemory.KEY), page;
    long entry = HprofCountsMemory.TABLE + (key * MIX >>> 64 - TABLE_BITS << ENTRY_BITS);
    if (unsafe.getLong(null, entry) != key || (page = page(entry, method)) == 0) {
      countSlowly(key, method);
    } else {
      increment(page, method);
    }
  }

  /** The page of the entry's thread for that method; 0: none yet. */
  private static long page(long entry, int method) {
    Unsafe unsafe = HprofCountsMemory.UNSAFE;
    return unsafe.getLong(null, unsafe.getLong(null, entry + 8) + ((method >>> PAGE_BITS & PAGES - 1) << 3));
  }

  private static void increment(long page, int method) {
    Unsafe unsafe = HprofCountsMemory.UNSAFE;
    long at = page + ((method & (1 << PAGE_BITS) - 1) << 3);
    unsafe.putLong(null, at, unsafe.getLong(null, at) + 1);
  }

  /** The thread's entry is not the first one for its key, or it has no entry, or no page for the method. */
  @java.lang.invoke.DontInline
  @DontInline
  private static void countSlowly(long key, int method) {
    long first = key * MIX >>> 64 - TABLE_BITS;
    for (int i = 0; key != 0 && i < TRIES; i++) {
      long entry = HprofCountsMemory.TABLE + ((first + i & (1 << TABLE_BITS) - 1) << ENTRY_BITS), page;
      if (HprofCountsMemory.UNSAFE.getLong(null, entry) != key) continue;
      if ((page = page(entry, method)) == 0) break;
      increment(page, method);
      return;
    }
    add(key, method);
  }

  /** The key of the calling platform thread, which starts or ends. */
  static long key() {
    return HprofCountsMemory.UNSAFE.getLong(Thread.currentThread(), HprofCountsMemory.KEY);
  }

  /** Counts a call of the thread with that key, and lets the next ones find its counts. */
  private static native void add(long key, int method);

  /** The address of the table. */
  static native long table();
}

/** A class of its own, so that prime() initialises it, and its fields are constants to the compilers. */
final class HprofCountsMemory {
  static final Unsafe UNSAFE = Unsafe.getUnsafe();

  static final long TABLE = HprofCounts.table();

  /** The offset of Thread.eetop. */
  static final long KEY = offset();

  private HprofCountsMemory() {}

  private static long offset() {
    try {
      return UNSAFE.objectFieldOffset(Thread.class.getDeclaredField("eetop"));
    } catch (NoSuchFieldException e) {
      throw new NoSuchFieldError("eetop");
    }
  }
}
