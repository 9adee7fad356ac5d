package java.lang;

import jdk.internal.vm.annotation.DontInline;
import sun.misc.Unsafe;

/**
 * The targets of the probes of calls=y: the beginning of each counted call. The rules for targets are those of
 * hprof/service/probes.h.
 *
 * <p>Each platform thread has counts of its own, outside of the heap, which only it writes, in chunks by the high bits of a
 * method's number. A hash table finds a chunk by Thread.eetop, the address of the VM's own thread, and by the chunk's
 * number, so that no class gets a field and the unit can be attached. The table is in the heap, since compilers know that
 * writing a count does not change it: methods that are compiled together look a chunk up once. A virtual thread counts for
 * the thread that carries it, and cannot be unmounted between the load of a count and its store.
 *
 * <p>Where the thread has no such chunk yet, the unit makes it, or adds to the counts of all threads atomically: no call is
 * lost for want of memory. The numbers below are shared with thread_counts.h.
 */
public final class HprofCounts {
  static final int CHUNK_BITS = 12;
  static final int CHUNKS_BITS = 6;

  // An entry of the table: the tag, the address of a chunk. The tag 0 is free.
  static final int TABLE_BITS = 13;
  static final int TRIES = 32;
  static final long MIX = 0x9E3779B97F4A7C15L;

  /** Set while the unit counts; never before VMInit. */
  static boolean live;

  private HprofCounts() {}

  /** Called before live is set: what initialises classes of the JDK, whose probes would come back here for ever. */
  static void prime() {
    HprofCountsMemory.UNSAFE.hashCode();
  }

  /**
   * A method begins. In VMs without virtual threads. One method of more bytes than C1 inlines: its code calls what C2 made
   * of this one.
   */
  public static void called(int method) {
    if (!live) return;
    Unsafe unsafe = HprofCountsMemory.UNSAFE;
    long key = unsafe.getLong(Thread.currentThread(), HprofCountsMemory.KEY);
    int chunk = method >>> CHUNK_BITS & (1 << CHUNKS_BITS) - 1;
    int at = ((int) (key * MIX >>> 64 - TABLE_BITS) + chunk & (1 << TABLE_BITS) - 1) << 1;
    long[] table = HprofCountsMemory.TABLE;
    if (table[at] != (key << CHUNKS_BITS) + chunk + 1) {
      countSlowly(key, method);
      return;
    }
    long place = table[at + 1] + ((method & (1 << CHUNK_BITS) - 1) << 3);
    unsafe.putLong(null, place, unsafe.getLong(null, place) + 1);
  }

  /** The same in VMs with virtual threads, whose key is 0. */
  public static void calledOnCarrier(int method) {
    if (!live) return;
    Unsafe unsafe = HprofCountsMemory.UNSAFE;
    long key = unsafe.getLong(Thread.currentThread(), HprofCountsMemory.KEY);
    if (key == 0) key = unsafe.getLong(Thread.currentCarrierThread(), HprofCountsMemory.KEY);
    int chunk = method >>> CHUNK_BITS & (1 << CHUNKS_BITS) - 1;
    int at = ((int) (key * MIX >>> 64 - TABLE_BITS) + chunk & (1 << TABLE_BITS) - 1) << 1;
    long[] table = HprofCountsMemory.TABLE;
    if (table[at] != (key << CHUNKS_BITS) + chunk + 1) {
      countSlowly(key, method);
      return;
    }
    long place = table[at + 1] + ((method & (1 << CHUNK_BITS) - 1) << 3);
    unsafe.putLong(null, place, unsafe.getLong(null, place) + 1);
  }

  /** The thread's entry is not the first one for its tag, or it has none. */
  @java.lang.invoke.DontInline
  @DontInline
  private static void countSlowly(long key, int method) {
    long[] table = HprofCountsMemory.TABLE;
    Unsafe unsafe = HprofCountsMemory.UNSAFE;
    int chunk = method >>> CHUNK_BITS & (1 << CHUNKS_BITS) - 1;
    int first = (int) (key * MIX >>> 64 - TABLE_BITS) + chunk;
    long tag = (key << CHUNKS_BITS) + chunk + 1;
    for (int i = 1; i < TRIES; i++) {
      int at = (first + i & (1 << TABLE_BITS) - 1) << 1;
      if (table[at] != tag) continue;
      long place = table[at + 1] + ((method & (1 << CHUNK_BITS) - 1) << 3);
      unsafe.putLong(null, place, unsafe.getLong(null, place) + 1);
      return;
    }
    long found = add(key, method);
    if (found == 0) return;
    int at = (int) found & (1 << TABLE_BITS) - 1;
    table[2 * at + 1] = found >>> TABLE_BITS;
    table[2 * at] = tag;
  }

  /** The key of the calling platform thread, which starts or ends. */
  static long key() {
    return keyOf(Thread.currentThread());
  }

  static long keyOf(Thread thread) {
    return HprofCountsMemory.UNSAFE.getLong(thread, HprofCountsMemory.KEY);
  }

  /** Counts a call of the thread with that key. Returns its entry and the address of the chunk; 0: it gets none. */
  private static native long add(long key, int method);

  /** Tells the unit of the table, where it makes entries of threads before they need them, and frees them. */
  static native void share(long[] table, long key);
}

/** A class of its own, so that prime() initialises it, and its fields are constants to the compilers. */
final class HprofCountsMemory {
  static final Unsafe UNSAFE = Unsafe.getUnsafe();

  static final long[] TABLE = new long[2 << HprofCounts.TABLE_BITS];

  /** The offset of Thread.eetop. */
  static final long KEY = offset();

  static {
    HprofCounts.share(TABLE, HprofCounts.key());
  }

  private HprofCountsMemory() {}

  private static long offset() {
    try {
      return UNSAFE.objectFieldOffset(Thread.class.getDeclaredField("eetop"));
    } catch (NoSuchFieldException e) {
      throw new NoSuchFieldError("eetop");
    }
  }
}
