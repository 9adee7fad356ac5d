package java.lang;

import jdk.internal.misc.CarrierThread;
import jdk.internal.vm.annotation.DontInline;
import sun.misc.Unsafe;

/**
 * The methods that injected probes call. It lives in java.lang of the boot loader, so that every class of every loader
 * can reach it, and is pure Java but for what happens seldom.
 *
 * <p>How it gets there: JDK 9 and later, JNI DefineClass with a null loader at early VMStart; JDK 8, the boot append
 * path. Its class file names sun.misc.Unsafe; for JDK 9 and later the agent renames that to jdk.internal.misc.Unsafe
 * (prepare_tracker() in tracker_classes.h). Thread.$hq is the field that the rewriter adds to java.lang.Thread.
 *
 * <p>Rules. {@link #live} is tested first: before VMInit even Thread.currentThread() may run Java code of the JDK, which
 * has probes itself, without end. Only own code, native methods and intrinsics are called: no recursion guard is needed.
 * Of Unsafe, only the native methods with two or three arguments are used: getLong(long) is Java code with probes. No
 * object is made here. No method is forced to be inlined: that costs more in the compilers than it saves. What
 * seldom runs, or is slow anyway, is kept out of line (annotations of both JDK 8 and later ones): enter(), exit() and
 * leaf() are part of every method compiled, and the compilers' time is half of the price of cpu=times.
 *
 * <p>The graph of cpu=times is outside of the heap and belongs to the plugin, which allocates it, reads it at any time
 * and never frees a node while its thread runs. A node stands for one trace (the last N methods); the edge (node, method)
 * leads to the node whose trace is that of the first with the method on top. A node has a place for each of eight
 * methods, by the low bits of their numbers: most edges are found there, with one look at the node they lead to. The
 * others are in the thread's table. All offsets below are shared with the plugin's C++ structures.
 *
 * <p>Thread.$hq is the node that the thread is in; 0 before its first call. What enter() returns is the node of the
 * caller: exit() is one store. On virtual threads, and where times=clock reads the clock, it is that negated, which makes
 * exit() take its slow way. While a program has none of these, the compilers see that way never taken and leave it out;
 * were it in the code, all of memory would have to be taken for changed after each call.
 *
 * <p>times=clock: a node whose time is read has no places for edges to methods that are left again, nor is it in such a
 * place: enter() comes to enterSlowly(), which reads the clock and returns the node negated. Once a node has turned out
 * to take less than a step at a time it is brief. Between two brief nodes the clock is not read: their time is counted
 * together, and the collector divides it.
 *
 * <p>A platform thread has nodes of its own. Virtual threads share theirs, so these are added to atomically. $hq of a
 * virtual thread is its door, a node with empty places, so that enter() always comes to enterSlowly(), which takes the
 * node it is in from its state. That is given back when its outermost frame ends. A frame that begins on a virtual
 * thread and ends on its carrier or the other way round would leave one's node in the other: the rewriter gives methods
 * that change the current thread no probes of this kind.
 */
public final class HprofTracker {
  // A thread's state.
  static final long STATE_CURRENT = 0;  // of a virtual thread: address of the node it is in
  static final long STATE_EDGES = 8;  // address of the edge table
  static final long STATE_MASK = 16;  // number of entries of that table, less one, times 16
  static final long STATE_CLOCK = 24;  // times=clock: the clock at the last event; 0: none yet
  static final long STATE_SHARED = 32;  // not 0: the state of a virtual thread, whose nodes all of them share
  static final long STATE_BRIEF = 40;  // times=clock: the time in nodes that are brief
  static final long STATE_STEP = 48;  // times=clock: a microsecond by that clock; 0: enter() and exit() read no clock

  // A node, aligned to 128 bytes. Its first word is the count of calls.
  static final long NODE_METHOD = 8;  // int: on top of the trace; -1 in nodes without one
  static final long NODE_LENGTH = 12;  // int: of the trace; 0 in the node that stands for "none"
  static final long NODE_STATE = 16;  // address of the state of the thread that owns it; 0 in shared nodes
  static final long NODE_SELF = 24;  // nanoseconds: the sampler's; or what times=clock counts in
  static final long NODE_NEXT = 32;  // long[WAYS]: where edges lead to, or to a node without a method
  static final int WAYS = 8;
  static final long NODE_PACE = 104;  // int: above 0 while its time is read at each event; else it is brief
  static final int PACE_MOST = 64, LONGEST = 32;  // in steps

  // An edge: key, address of a node. The key 0 is free.
  static final int NODE_BITS = 7;
  static final int METHOD_BITS = 23;
  static final int PROBES = 8;

  /** Set at VMInit, cleared at VMDeath, by the agent. */
  static boolean live;

  /** times=clock: the clock is the processor's counter. Set once, before live, by the collector. */
  static boolean counter;

  /** Set while heap=sites counts. */
  static boolean sites;

  /** Set while a unit wants exceptions caught, exceptions made. */
  static boolean catching, making;

  /** Set while a unit wants calls and their ends. */
  static boolean calling;

  /** Set before, where there are virtual threads, whose calls are not told. Carriers tell nothing but objects. */
  static boolean carriers;

  /**
   * Where in any object eight bytes lie that tell its class and, in an array, its length: read here, where no collector
   * moves the object meanwhile, and given to the agent, the first four below the others. -1: this VM has no such place.
   */
  static long headerAt = -1;

  private HprofTracker() {}

  /**
   * The agent calls this at VMInit, before it sets live: a native method is looked up by Java code of the JDK when it is
   * first called, which has probes itself; from a live probe that would be without end. The agent exports
   * Java_java_lang_HprofTracker_attach and so on; with null and zeros these do nothing and return 0.
   */
  static void prime() {
    attach(null);
    miss(0, 0, 0);
    release(0);
    allocatedObject(null, 0);
    caughtException(null, 0);
    madeException(null);
    callBegins(0);
    callEnds(0, false);
    counterTime();
    System.nanoTime();
    HprofMemory.UNSAFE.hashCode();
  }

  /** Returns what is to be given to exit(), unwind() and sync(); 0 for "not counted". */
  public static long enter(int method) {
    if (!live) return 0;
    Thread thread = Thread.currentThread();
    Unsafe unsafe = HprofMemory.UNSAFE;
    long node = thread.$hq, next;
    if (node == 0
        || unsafe.getInt(
                null, (next = unsafe.getLong(null, node + NODE_NEXT + ((method & WAYS - 1) << 3))) + NODE_METHOD)
            != method) {
      return enterSlowly(thread, node, method);
    }
    unsafe.putLong(null, next, unsafe.getLong(null, next) + 1);
    thread.$hq = next;
    return node;
  }

  /** Absolute: whatever was lost between, the thread is in the caller again. */
  public static void exit(long prev) {
    if (prev > 0) {
      Thread.currentThread().$hq = prev;
    } else if (prev < 0) {
      exitSlowly(prev);
    }
  }

  /** exit() where no way of entering is slow: in VMs without virtual threads, but for times=clock. */
  public static void exitQuickly(long prev) {
    if (prev != 0) Thread.currentThread().$hq = prev;
  }

  public static void unwind(long prev) {
    exit(prev);
  }

  /** An exception handler of the method that was entered from prev has begun: the thread is in that method again. */
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
      pass(state, thread.$hq, next);
      thread.$hq = next;
    } else {
      passShared(state);
      HprofMemory.UNSAFE.putLong(null, state + STATE_CURRENT, next);
    }
  }

  /** A method that calls nothing: its time is its caller's. */
  public static void leaf(int method) {
    if (!live) return;
    Thread thread = Thread.currentThread();
    Unsafe unsafe = HprofMemory.UNSAFE;
    long node = thread.$hq, next;
    if (node == 0
        || unsafe.getInt(
                null, (next = unsafe.getLong(null, node + NODE_NEXT + ((method & WAYS - 1) << 3))) + NODE_METHOD)
            != method) {
      leafSlowly(thread, node, method);
      return;
    }
    unsafe.putLong(null, next, unsafe.getLong(null, next) + 1);
  }

  /** The rest of enter() where the node has no place for the edge, or the thread none yet. */
  @java.lang.invoke.DontInline
  @DontInline
  private static long enterSlowly(Thread thread, long node, int method) {
    if (node == 0 && (node = attach(thread)) == 0) return 0;
    Unsafe unsafe = HprofMemory.UNSAFE;
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
    thread.$hq = next;
    return quick ? node : -node;
  }

  private static long enterShared(long state, int method) {
    long node = HprofMemory.UNSAFE.getLong(null, state + STATE_CURRENT);
    long next = follow(state, node, method);
    if (next == 0) return 0;
    passShared(state);
    add(next, 1);
    HprofMemory.UNSAFE.putLong(null, state + STATE_CURRENT, next);
    return -node;
  }

  /** The same for leaf(). */
  @java.lang.invoke.DontInline
  @DontInline
  private static void leafSlowly(Thread thread, long node, int method) {
    if (node == 0 && (node = attach(thread)) == 0) return;
    Unsafe unsafe = HprofMemory.UNSAFE;
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
      pass(state, thread.$hq, node);
      thread.$hq = node;
      return;
    }
    passShared(state);
    HprofMemory.UNSAFE.putLong(null, state + STATE_CURRENT, node);
    if (HprofMemory.UNSAFE.getInt(null, node + NODE_LENGTH) != 0) return;
    thread.$hq = 0;
    release(state);
  }

  private static boolean isShared(long state) {
    return HprofMemory.UNSAFE.getLong(null, state + STATE_SHARED) != 0;
  }

  /** The state of the thread, if the node is one of those that it counts in; else 0. */
  private static long stateOf(Thread thread, long node) {
    Unsafe unsafe = HprofMemory.UNSAFE;
    long at = thread.$hq;
    if (at == 0) return 0;
    long state = unsafe.getLong(null, at + NODE_STATE), owner = unsafe.getLong(null, node + NODE_STATE);
    return owner == state || owner == 0 && isShared(state) ? state : 0;
  }

  private static boolean isBrief(long node) {
    return HprofMemory.UNSAFE.getInt(null, node + NODE_PACE) <= 0;
  }

  /** Lets enter() and leaf() find the edge by themselves, if its place is free. */
  private static void addWay(long node, int method, long next) {
    Unsafe unsafe = HprofMemory.UNSAFE;
    long place = node + NODE_NEXT + ((method & WAYS - 1) << 3);
    if (unsafe.getInt(null, unsafe.getLong(null, place) + NODE_METHOD) != -1) return;
    if (unsafe.getInt(null, next + NODE_METHOD) == method) unsafe.putLong(null, place, next);
  }

  private static void add(long at, long amount) {
    Unsafe unsafe = HprofMemory.UNSAFE;
    long old;
    do {
      old = unsafe.getLong(null, at);
    } while (!unsafe.compareAndSetLong(null, at, old, old + amount));
  }

  /** The edge from node by that method: by the thread's table, or made by the agent. 0 when that has no memory left. */
  private static long follow(long state, long node, int method) {
    Unsafe unsafe = HprofMemory.UNSAFE;
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

  /** times=clock: the thread goes from one of its nodes to another; both are brief: that needs no clock. */
  private static void pass(long state, long from, long to) {
    if (!isBrief(from) || !isBrief(to)) read(state, from);
  }

  private static void passShared(long state) {
    if (!live || HprofMemory.UNSAFE.getLong(null, state + STATE_STEP) == 0) return;
    long passed = passed(state);
    if (passed != 0) add(HprofMemory.UNSAFE.getLong(null, state + STATE_CURRENT) + NODE_SELF, passed);
  }

  /**
   * The time since the last reading goes to the node, or to all brief ones, which the thread has not left since. A node
   * that takes less than a step most times becomes brief.
   */
  private static void read(long state, long node) {
    if (!live) return;
    Unsafe unsafe = HprofMemory.UNSAFE;
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

  /** Since the last reading. */
  private static long passed(long state) {
    long now = counter ? counterTime() : System.nanoTime();
    long before = HprofMemory.UNSAFE.getLong(null, state + STATE_CLOCK);
    HprofMemory.UNSAFE.putLong(null, state + STATE_CLOCK, now);
    return before != 0 ? now - before : 0;
  }

  /** A new object. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void allocated(Object object) {
    if (sites) tell(object);
  }

  /** What multianewarray made: the array and, dimensions - 1 levels deep, the arrays in it. */
  public static void allocatedArrays(Object array, int dimensions) {
    if (!sites) return;
    tell(array);
    if (dimensions < 2) return;
    Object[] inner = (Object[]) array;
    for (int i = 0; i < inner.length; i++) allocatedArrays(inner[i], dimensions - 1);
  }

  /** In place of enter() where a unit is told of each call. */
  public static long enterCall(int method) {
    if (!calling || carriers && Thread.currentThread() != Thread.currentCarrierThread() || isCarrier()) return 0;
    return callBegins(method);
  }

  /**
   * A carrier may be mounting a virtual thread or taking it off, by methods of several classes. A JVMTI call by the thread
   * that does so waits for ever, since it waits for all threads that do so.
   */
  private static boolean isCarrier() {
    return carriers && Thread.currentThread() instanceof CarrierThread;
  }

  public static void exitCall(long call) {
    if (call != 0) callEnds(call, false);
  }

  public static void unwindCall(long call) {
    if (call != 0) callEnds(call, true);
  }

  /** A handler of that method begins. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void caught(Object exception, int method) {
    if (catching && !isCarrier()) caughtException(exception, method);
  }

  /** A constructor of Throwable ends; those of its subclasses go on. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void made(Object exception) {
    if (making && !isCarrier()) madeException(exception);
  }

  private static void tell(Object object) {
    allocatedObject(object, headerAt < 0 ? 0 : headerOf(object));
  }

  /** In the two pieces in which it has just been written: for both at once the processor would wait. */
  private static long headerOf(Object object) {
    Unsafe unsafe = HprofMemory.UNSAFE;
    long at = headerAt;
    return (long) unsafe.getInt(object, at + 4) << 32 | unsafe.getInt(object, at) & 0xFFFFFFFFL;
  }

  /** What the agent reads of another thread: the VM's own functions may read it where a collector has moved it from. */
  private static long stateAt(Thread thread) {
    return thread.$hq;
  }

  /** A thread's first event: makes its state and returns what it puts into Thread.$hq. 0: this thread is not counted. */
  private static native long attach(Thread thread);

  /** Makes the node and the edge, or finds the edge where the table's probes ended. */
  private static native long miss(long state, long node, int method);

  /** Takes back the state of a virtual thread. */
  private static native void release(long state);

  /**
   * The processor's counter, in ticks: a call of a native method and one instruction take less than half of the time of
   * System.nanoTime().
   */
  private static native long counterTime();

  private static native void allocatedObject(Object object, long header);

  private static native long callBegins(int method);

  private static native void callEnds(long call, boolean thrown);

  private static native void caughtException(Object exception, int method);

  private static native void madeException(Object exception);
}
