package java.lang;

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
 * and never frees a node while the VM runs. A node stands for one trace (the last N methods); the edge (node, method)
 * leads to the node whose trace is that of the first with the method on top. A node's first edges are in the node, where
 * they are found without another look at memory; further ones in the thread's table. All offsets below are shared with
 * the plugin's C++ structures.
 *
 * <p>A platform thread has nodes of its own. Virtual threads share theirs, so these are added to atomically, and exit()
 * finds the state by the thread. A frame that was entered on a virtual thread and ends on its carrier (unmount) or the
 * other way round is left alone: the next exit further out is absolute, and so right again. The state of a virtual thread
 * is given back when its outermost frame ends.
 */
public final class HprofTracker {
  // A thread's state, at the address Thread.$hq.
  static final long STATE_CURRENT = 0;  // address of the node the thread is in; only its thread writes it
  static final long STATE_EDGES = 8;  // address of the edge table
  static final long STATE_MASK = 16;  // number of entries of that table, less one, times 16
  static final long STATE_CLOCK = 24;  // times=clock: the clock at the last event; 0: none yet
  static final long STATE_SHARED = 32;  // not 0: the state of a virtual thread, whose nodes all of them share

  // A node, aligned to 128 bytes.
  static final long NODE_COUNT = 0;  // calls
  static final long NODE_STATE = 8;  // address of the state of the thread that owns it; 0 in shared nodes
  static final long NODE_SELF = 16;  // nanoseconds: the sampler's; or what times=clock counts in
  static final long NODE_METHODS = 24;  // int[WAYS]: the methods of its first edges, never of one that is not there
  static final long NODE_NEXT = 48;  // long[WAYS]: where these lead to; way 0 of shared nodes stays free
  static final long NODE_LENGTH = 96;  // int: 0 in the node that stands for "none"
  static final int WAYS = 6;

  // An edge: key, address of a node. The key 0 is free.
  static final int NODE_BITS = 7;
  static final int METHOD_BITS = 23;
  static final int PROBES = 8;

  /** Set at VMInit, cleared at VMDeath, by the agent. */
  static boolean live;

  /** times=clock: the clock is the thread's CPU clock, not that on the wall. */
  static boolean cpu;

  /** times=clock: the clock is the processor's counter. Set once, before live, by the collector. */
  static boolean counter;

  /** Set while heap=sites counts. */
  static boolean sites;

  /** Set while a unit wants entries of methods, exceptions caught, exceptions made. */
  static boolean entering, catching, making;

  /**
   * Where in any object eight bytes lie that tell its class and, in an array, its length: read here, where no collector
   * moves the object meanwhile, and given to the agent as they are. -1: this VM has no such place.
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
    enteredMethod(0);
    caughtException(null, 0);
    madeException(null);
    threadTime();
    counterTime();
    System.nanoTime();
    HprofMemory.UNSAFE.hashCode();
  }

  /** Returns what is to be given to exit(), unwind() and sync(): the node of the caller, 0 for "not counted". */
  public static long enter(int method) {
    if (!live) return 0;
    long state = Thread.currentThread().$hq;
    if (state == 0) return first(method);
    Unsafe unsafe = HprofMemory.UNSAFE;
    long node = unsafe.getLong(null, state + STATE_CURRENT);
    if (unsafe.getInt(null, node + NODE_METHODS) != method) return step(state, node, method);
    long next = unsafe.getLong(null, node + NODE_NEXT);
    unsafe.putLong(null, next + NODE_COUNT, unsafe.getLong(null, next + NODE_COUNT) + 1);
    unsafe.putLong(null, state + STATE_CURRENT, next);
    return node;
  }

  /** Absolute: whatever was lost between, the thread is in the caller again. */
  public static void exit(long prev) {
    if (prev == 0) return;
    Unsafe unsafe = HprofMemory.UNSAFE;
    long state = unsafe.getLong(null, prev + NODE_STATE);
    if (state == 0) {
      exitShared(prev);
    } else {
      unsafe.putLong(null, state + STATE_CURRENT, prev);
    }
  }

  public static void unwind(long prev) {
    exit(prev);
  }

  /** An exception handler of the method that was entered from prev has begun: the thread is in that method again. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void sync(long prev, int method) {
    long state = prev != 0 ? stateOf(prev) : 0;
    if (state == 0) return;
    long next = follow(state, prev, method);
    if (next != 0) HprofMemory.UNSAFE.putLong(null, state + STATE_CURRENT, next);
  }

  /** A method that calls nothing: its time is its caller's. */
  public static void leaf(int method) {
    if (!live) return;
    long state = Thread.currentThread().$hq;
    if (state == 0) {
      firstLeaf(method);
      return;
    }
    Unsafe unsafe = HprofMemory.UNSAFE;
    long node = unsafe.getLong(null, state + STATE_CURRENT);
    if (unsafe.getInt(null, node + NODE_METHODS) != method) {
      stepLeaf(state, node, method);
    } else {
      long next = unsafe.getLong(null, node + NODE_NEXT);
      unsafe.putLong(null, next + NODE_COUNT, unsafe.getLong(null, next + NODE_COUNT) + 1);
    }
  }

  /** With times=clock, in place of enter(). Two calls more are little beside two looks at the clock. */
  @java.lang.invoke.DontInline
  @DontInline
  public static long enterClock(int method) {
    if (!live) return 0;
    long state = Thread.currentThread().$hq;
    if (state == 0) return first(method);
    Unsafe unsafe = HprofMemory.UNSAFE;
    long node = unsafe.getLong(null, state + STATE_CURRENT);
    tick(state, node);
    if (unsafe.getInt(null, node + NODE_METHODS) != method) return step(state, node, method);
    long next = unsafe.getLong(null, node + NODE_NEXT);
    unsafe.putLong(null, next + NODE_COUNT, unsafe.getLong(null, next + NODE_COUNT) + 1);
    unsafe.putLong(null, state + STATE_CURRENT, next);
    return node;
  }

  @java.lang.invoke.DontInline
  @DontInline
  public static void exitClock(long prev) {
    long state = prev != 0 ? stateOf(prev) : 0;
    if (state == 0) return;
    tick(state, HprofMemory.UNSAFE.getLong(null, state + STATE_CURRENT));
    exit(prev);
  }

  @java.lang.invoke.DontInline
  @DontInline
  public static void syncClock(long prev, int method) {
    long state = prev != 0 ? stateOf(prev) : 0;
    if (state == 0) return;
    tick(state, HprofMemory.UNSAFE.getLong(null, state + STATE_CURRENT));
    sync(prev, method);
  }

  /** A thread's first call. */
  @java.lang.invoke.DontInline
  @DontInline
  private static long first(int method) {
    long state = attach(Thread.currentThread());
    return state != 0 ? step(state, HprofMemory.UNSAFE.getLong(null, state + STATE_CURRENT), method) : 0;
  }

  @java.lang.invoke.DontInline
  @DontInline
  private static void firstLeaf(int method) {
    long state = attach(Thread.currentThread());
    if (state != 0) stepLeaf(state, HprofMemory.UNSAFE.getLong(null, state + STATE_CURRENT), method);
  }

  /** enter() where the first edge from the node is not the one. */
  @java.lang.invoke.DontInline
  @DontInline
  private static long step(long state, long node, int method) {
    long next = follow(state, node, method);
    if (next == 0) return 0;
    count(next);
    HprofMemory.UNSAFE.putLong(null, state + STATE_CURRENT, next);
    return node;
  }

  @java.lang.invoke.DontInline
  @DontInline
  private static void stepLeaf(long state, long node, int method) {
    long next = follow(state, node, method);
    if (next != 0) count(next);
  }

  /** The state of the thread that owns the node or, when virtual threads share it, of this one; 0: it cannot be. */
  private static long stateOf(long node) {
    long state = HprofMemory.UNSAFE.getLong(null, node + NODE_STATE);
    return state != 0 ? state : shared();
  }

  /** The state of this virtual thread; 0 on a platform thread. */
  private static long shared() {
    long state = Thread.currentThread().$hq;
    return state != 0 && HprofMemory.UNSAFE.getLong(null, state + STATE_SHARED) != 0 ? state : 0;
  }

  @java.lang.invoke.DontInline
  @DontInline
  private static void exitShared(long prev) {
    long state = shared();
    if (state == 0) return;
    HprofMemory.UNSAFE.putLong(null, state + STATE_CURRENT, prev);
    if (HprofMemory.UNSAFE.getInt(null, prev + NODE_LENGTH) != 0) return;
    Thread.currentThread().$hq = 0;
    release(state);
  }

  private static void count(long node) {
    long at = node + NODE_COUNT;
    if (HprofMemory.UNSAFE.getLong(null, node + NODE_STATE) != 0) {
      HprofMemory.UNSAFE.putLong(null, at, HprofMemory.UNSAFE.getLong(null, at) + 1);
    } else {
      add(at, 1);
    }
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
    for (int way = 0; way < WAYS; way++) {
      if (unsafe.getInt(null, node + NODE_METHODS + 4 * way) != method) continue;
      long next = unsafe.getLong(null, node + NODE_NEXT + 8 * way);
      return next != 0 ? next : miss(state, node, method);
    }
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

  /** The time since the thread's last event goes to that node. A thread's CPU clock is not a virtual thread's. */
  private static void tick(long state, long node) {
    Unsafe unsafe = HprofMemory.UNSAFE;
    if (!live || cpu && unsafe.getLong(null, node + NODE_STATE) == 0) return;
    long now = counter ? counterTime() : cpu ? threadTime() : System.nanoTime();
    long before = unsafe.getLong(null, state + STATE_CLOCK);
    unsafe.putLong(null, state + STATE_CLOCK, now);
    if (before == 0) return;
    long at = node + NODE_SELF;
    if (unsafe.getLong(null, node + NODE_STATE) != 0) {
      unsafe.putLong(null, at, unsafe.getLong(null, at) + now - before);
    } else {
      add(at, now - before);
    }
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

  /** A method begins. */
  public static void entered(int method) {
    if (entering) enteredMethod(method);
  }

  /** A handler of that method begins. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void caught(Object exception, int method) {
    if (catching) caughtException(exception, method);
  }

  /** A constructor of Throwable ends; those of its subclasses go on. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void made(Object exception) {
    if (making) madeException(exception);
  }

  private static void tell(Object object) {
    long at = headerAt;
    allocatedObject(object, at < 0 ? 0 : HprofMemory.UNSAFE.getLong(object, at));
  }

  /** A thread's first event: makes its state and stores it in Thread.$hq. 0: this thread is not counted. */
  private static native long attach(Thread thread);

  /** Makes the node and the edge, or finds the edge where the table's probes ended. */
  private static native long miss(long state, long node, int method);

  /** Takes back the state of a virtual thread. */
  private static native void release(long state);

  /** CPU time of this thread in nanoseconds. */
  private static native long threadTime();

  /**
   * The processor's counter, in ticks: a call of a native method and one instruction take less than half of the time of
   * System.nanoTime().
   */
  private static native long counterTime();

  private static native void allocatedObject(Object object, long header);

  private static native void enteredMethod(int method);

  private static native void caughtException(Object exception, int method);

  private static native void madeException(Object exception);
}
