package java.lang;

import jdk.internal.vm.annotation.DontInline;
import sun.misc.Unsafe;

/**
 * The targets of the probes of cpu=times, in pure Java but for what happens seldom. The rules for targets are those of
 * hprof/service/probes.h. Thread.$hprof is the field that these probes add to java.lang.Thread.
 *
 * <p>{@link #live} is tested first. Only own code, native methods and intrinsics are called, so no recursion guard is
 * needed; of Unsafe only native methods with two or three arguments, since getLong(long) is Java code with probes. No
 * method is forced to be inlined: that costs more compile time than it saves. Rare and slow code is kept out of line:
 * enter(), exit() and leaf() are part of every compiled method, and compile time is half of the cost of counting calls.
 *
 * <p>The graph of calls is outside of the heap and belongs to the unit, which allocates it, reads it at any time
 * and never frees a node while its thread runs. A node is one trace (the last N methods); the edge (node, method) leads
 * to the node of that trace with the method on top. A node has eight ways, by the low bits of a method's number: most
 * edges are found there, and checked by reading the node they lead to. The others are in the thread's table. All
 * offsets below are shared with the structures of graph.h.
 *
 * <p>Thread.$hprof is the node that the thread is in; 0 before its first call. enter() returns the caller's node, so
 * exit() is one store. On virtual threads, and where the clock is read at calls, enter() returns it negated, which
 * sends exit() to its slow path. In programs without these, the compilers see that the slow path is never taken and
 * leave it out; its calls would make them reload all of memory after each call.
 *
 * <p>Clocked calls: a node whose time is measured has ways to leaf methods only, and is in no way itself, so enter()
 * comes to enterSlowly(), which reads the clock and returns the node negated. A node that mostly takes less than a step
 * becomes brief. Between two brief nodes the clock is not read: their time is summed, and the collector divides it.
 *
 * <p>A platform thread has nodes of its own. Virtual threads share nodes, whose counts are added to atomically. $hprof of
 * a virtual thread is its sentinel, a node without ways, so that enter() always comes to enterSlowly(), which takes the
 * thread's node from its state. The state is given back when its outermost frame ends. A frame that begins on a virtual
 * thread and ends on its carrier, or the other way round, would leave the node of one in the other: the rewriter puts
 * no such probes into methods that change the current thread.
 */
public final class HprofCalls {
  // A thread's state.
  static final long STATE_CURRENT = 0;  // of a virtual thread: address of the node it is in
  static final long STATE_EDGES = 8;  // address of the edge table
  static final long STATE_MASK = 16;  // number of entries of that table, less one, times 16
  static final long STATE_CLOCK = 24;  // clocked calls: the clock at the last event; 0: none yet
  static final long STATE_SHARED = 32;  // not 0: of a virtual thread; all virtual threads share their nodes
  static final long STATE_BRIEF = 40;  // clocked calls: the time in nodes that are brief
  static final long STATE_STEP = 48;  // clocked calls: a microsecond by that clock; 0: enter() and exit() read no clock

  // A node, aligned to 128 bytes. Its first word is the count of calls.
  static final long NODE_METHOD = 8;  // int: the trace's top method; -1: none
  static final long NODE_LENGTH = 12;  // int: length of the trace; 0 in the root
  static final long NODE_STATE = 16;  // address of the state of the thread that owns it; 0 in shared nodes
  static final long NODE_SELF = 24;  // nanoseconds, by the sampler; or the sum of clocked calls
  static final long NODE_NEXT = 32;  // long[WAYS]: target nodes by method, or a node without a method
  static final int WAYS = 8;
  static final long NODE_PACE = 104;  // int: above 0 while its time is measured; else it is brief
  static final int PACE_MOST = 64, LONGEST = 32;  // in steps

  // An edge: key, address of a node. The key 0 is free.
  static final int NODE_BITS = 7;
  static final int METHOD_BITS = 23;
  static final int PROBES = 8;

  /** Set while the unit counts; never before VMInit. */
  static boolean live;

  /** Clocked calls: the clock is the processor's counter. Set once, before live, by the collector. */
  static boolean counter;

  private HprofCalls() {}

  /** Called before live is set: what initialises a class of the JDK, whose probes would come back here for ever. */
  static void prime() {
    System.nanoTime();
    HprofCallsMemory.UNSAFE.hashCode();
  }

  /** Returns the argument for exit() and sync(); 0: not counted. */
  public static long enter(int method) {
    if (!live) return 0;
    Thread thread = Thread.currentThread();
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long node = thread.$hprof, next;
    if (node == 0
        || unsafe.getInt(
                null, (next = unsafe.getLong(null, node + NODE_NEXT + ((method & WAYS - 1) << 3))) + NODE_METHOD)
            != method) {
      return enterSlowly(thread, node, method);
    }
    unsafe.putLong(null, next, unsafe.getLong(null, next) + 1);
    thread.$hprof = next;
    return node;
  }

  /** Sets the caller's node, whatever was lost in between. */
  public static void exit(long prev) {
    if (prev > 0) {
      Thread.currentThread().$hprof = prev;
    } else if (prev < 0) {
      exitSlowly(prev);
    }
  }

  /** exit() without the slow path: in VMs without virtual threads, unless calls are clocked. */
  public static void exitQuickly(long prev) {
    if (prev != 0) Thread.currentThread().$hprof = prev;
  }

  /** A handler of the method that was entered from prev has begun: the thread is in that method again. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void sync(long prev, int method) {
    if (prev == 0) return;
    Thread thread = Thread.currentThread();
    long node = prev < 0 ? -prev : prev;
    long state = stateOf(thread, node);
    long next = state != 0 ? follow(state, node, method) : 0;
    if (next == 0) return;
    if (!isShared(state)) {
      pass(state, thread.$hprof, next);
      thread.$hprof = next;
    } else {
      passShared(state);
      HprofCallsMemory.UNSAFE.putLong(null, state + STATE_CURRENT, next);
    }
  }

  /** A method without calls: its time counts for its caller. */
  public static void leaf(int method) {
    if (!live) return;
    Thread thread = Thread.currentThread();
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long node = thread.$hprof, next;
    if (node == 0
        || unsafe.getInt(
                null, (next = unsafe.getLong(null, node + NODE_NEXT + ((method & WAYS - 1) << 3))) + NODE_METHOD)
            != method) {
      leafSlowly(thread, node, method);
      return;
    }
    unsafe.putLong(null, next, unsafe.getLong(null, next) + 1);
  }

  /** The slow path of enter(): the node has no way for the edge, or the thread has no node yet. */
  @java.lang.invoke.DontInline
  @DontInline
  private static long enterSlowly(Thread thread, long node, int method) {
    if (node == 0 && (node = attach(thread)) == 0) return 0;
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long state = unsafe.getLong(null, node + NODE_STATE);
    if (isShared(state)) return enterShared(state, method);
    long next = follow(state, node, method);
    if (next == 0) return 0;
    boolean quick = true;
    if (unsafe.getLong(null, state + STATE_STEP) != 0) {
      if (quick = isBrief(node) && isBrief(next)) {
        addWay(node, method, next);
      } else {
        read(state, node);
      }
    }
    unsafe.putLong(null, next, unsafe.getLong(null, next) + 1);
    thread.$hprof = next;
    return quick ? node : -node;
  }

  private static long enterShared(long state, int method) {
    long node = HprofCallsMemory.UNSAFE.getLong(null, state + STATE_CURRENT);
    long next = follow(state, node, method);
    if (next == 0) return 0;
    passShared(state);
    add(next, 1);
    HprofCallsMemory.UNSAFE.putLong(null, state + STATE_CURRENT, next);
    return -node;
  }

  /** The slow path of leaf(). */
  @java.lang.invoke.DontInline
  @DontInline
  private static void leafSlowly(Thread thread, long node, int method) {
    if (node == 0 && (node = attach(thread)) == 0) return;
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long state = unsafe.getLong(null, node + NODE_STATE);
    boolean shared = isShared(state);
    if (shared) node = unsafe.getLong(null, state + STATE_CURRENT);
    long next = follow(state, node, method);
    if (next == 0) return;
    if (shared) {
      add(next, 1);
      return;
    }
    if (unsafe.getLong(null, state + STATE_STEP) != 0) addWay(node, method, next);
    unsafe.putLong(null, next, unsafe.getLong(null, next) + 1);
  }

  @java.lang.invoke.DontInline
  @DontInline
  private static void exitSlowly(long prev) {
    Thread thread = Thread.currentThread();
    long node = -prev;
    long state = stateOf(thread, node);
    if (state == 0) return;
    if (!isShared(state)) {
      pass(state, thread.$hprof, node);
      thread.$hprof = node;
      return;
    }
    passShared(state);
    HprofCallsMemory.UNSAFE.putLong(null, state + STATE_CURRENT, node);
    if (HprofCallsMemory.UNSAFE.getInt(null, node + NODE_LENGTH) != 0) return;
    thread.$hprof = 0;
    release(state);
  }

  private static boolean isShared(long state) {
    return HprofCallsMemory.UNSAFE.getLong(null, state + STATE_SHARED) != 0;
  }

  /** The state of the thread, if the node is one of its own; else 0. */
  private static long stateOf(Thread thread, long node) {
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long at = thread.$hprof;
    if (at == 0) return 0;
    long state = unsafe.getLong(null, at + NODE_STATE), owner = unsafe.getLong(null, node + NODE_STATE);
    return owner == state || owner == 0 && isShared(state) ? state : 0;
  }

  private static boolean isBrief(long node) {
    return HprofCallsMemory.UNSAFE.getInt(null, node + NODE_PACE) <= 0;
  }

  /** Lets enter() and leaf() find the edge themselves, if its way is free. */
  private static void addWay(long node, int method, long next) {
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long place = node + NODE_NEXT + ((method & WAYS - 1) << 3);
    if (unsafe.getInt(null, unsafe.getLong(null, place) + NODE_METHOD) != -1) return;
    if (unsafe.getInt(null, next + NODE_METHOD) == method) unsafe.putLong(null, place, next);
  }

  private static void add(long at, long amount) {
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long old;
    do {
      old = unsafe.getLong(null, at);
    } while (!unsafe.compareAndSwapLong(null, at, old, old + amount));
  }

  /** The target of the edge, from the thread's table or made by the agent; 0: no memory. */
  private static long follow(long state, long node, int method) {
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long way = unsafe.getLong(null, node + NODE_NEXT + ((method & WAYS - 1) << 3));
    if (unsafe.getInt(null, way + NODE_METHOD) == method) return way;
    long key = node >>> NODE_BITS << METHOD_BITS | method;
    long edges = unsafe.getLong(null, state + STATE_EDGES);
    long mask = unsafe.getLong(null, state + STATE_MASK);
    long hash = key * 0x9E3779B97F4A7C15L >>> 28;
    for (int i = 0; i < PROBES; i++, hash += 16) {
      long edge = edges + (hash & mask);
      long found = unsafe.getLong(null, edge);
      if (found == 0) break;
      if (found == key) {
        long next = unsafe.getLong(null, edge + 8);
        if (next == 0) break;
        return next;
      }
    }
    return miss(state, node, method);
  }

  /** Clocked calls: the thread goes from one of its nodes to another. Between two brief ones no clock is read. */
  private static void pass(long state, long from, long to) {
    if (!isBrief(from) || !isBrief(to)) read(state, from);
  }

  private static void passShared(long state) {
    if (!live || HprofCallsMemory.UNSAFE.getLong(null, state + STATE_STEP) == 0) return;
    long passed = passed(state);
    if (passed != 0) add(HprofCallsMemory.UNSAFE.getLong(null, state + STATE_CURRENT) + NODE_SELF, passed);
  }

  /**
   * Adds the time since the last reading to the node, or to the sum of brief nodes, which the thread has not left
   * since. A node that mostly takes less than a step becomes brief.
   */
  private static void read(long state, long node) {
    if (!live) return;
    Unsafe unsafe = HprofCallsMemory.UNSAFE;
    long passed = passed(state);
    int pace = unsafe.getInt(null, node + NODE_PACE);
    if (pace > 0) {
      unsafe.putLong(null, node + NODE_SELF, unsafe.getLong(null, node + NODE_SELF) + passed);
    } else {
      // Volatile: the collector must not see the sum before the clock.
      unsafe.putLongVolatile(null, state + STATE_BRIEF, unsafe.getLong(null, state + STATE_BRIEF) + passed);
    }
    int step = (int) unsafe.getLong(null, state + STATE_STEP), most = PACE_MOST * step;
    if (pace <= 0 || pace > most) return;
    pace += passed < LONGEST * step ? (int) passed - step : (LONGEST - 1) * step;
    unsafe.putInt(null, node + NODE_PACE, pace < most ? pace : most);
  }

  /** Ticks or nanoseconds since the last reading. */
  private static long passed(long state) {
    long now = counter ? counterTime() : System.nanoTime();
    long before = HprofCallsMemory.UNSAFE.getLong(null, state + STATE_CLOCK);
    HprofCallsMemory.UNSAFE.putLong(null, state + STATE_CLOCK, now);
    return before != 0 ? now - before : 0;
  }

  /** Read here for the collector, whose JNI functions may read a field at an address from which a collector has moved it. */
  private static long stateAt(Thread thread) {
    return thread.$hprof;
  }

  /** At a thread's first event: makes its state and returns the value of Thread.$hprof; 0: the thread is not counted. */
  private static native long attach(Thread thread);

  /** Finds the edge, or makes it and the node. */
  private static native long miss(long state, long node, int method);

  /** Gives the state of a virtual thread back. */
  private static native void release(long state);

  /**
   * The processor's counter, in ticks. Takes less than half the time of System.nanoTime().
   */
  private static native long counterTime();
}

/** A class of its own, so that the first live probe initialises Unsafe, not the first probe. */
final class HprofCallsMemory {
  static final Unsafe UNSAFE = Unsafe.getUnsafe();

  private HprofCallsMemory() {}
}
