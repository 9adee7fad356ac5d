package java.lang;

import hprof.Timer;
import jdk.internal.misc.CarrierThread;
import jdk.internal.vm.annotation.DontInline;
import sun.misc.Unsafe;

/**
 * The methods that injected probes call. It lives in java.lang of the boot loader, so that every class of every loader
 * can reach it, and is pure Java but for what happens seldom.
 *
 * <p>Defined by: JDK 9 and later, JNI DefineClass with a null loader at early VMStart; JDK 8, the boot append path. Its
 * class file names sun.misc.Unsafe; for JDK 9 and later the agent renames that to jdk.internal.misc.Unsafe
 * (prepare_tracker() in tracker_classes.h). Thread.$hq is the field that the rewriter adds to java.lang.Thread.
 *
 * <p>Rules. {@link #live} is tested first: before VMInit even Thread.currentThread() may run Java code with probes, in
 * an endless recursion. Only own code, native methods and intrinsics are called, so no recursion guard is needed; of
 * Unsafe only native methods with two or three arguments, since getLong(long) is Java code with probes. No object is
 * made here. No method is forced to be inlined: that costs more compile time than it saves. Rare and slow code is kept
 * out of line (annotations of both JDK 8 and later ones): enter(), exit() and leaf() are part of every compiled method,
 * and compile time is half of the cost of counting calls.
 *
 * <p>The graph of calls is outside of the heap and belongs to the plugin, which allocates it, reads it at any time
 * and never frees a node while its thread runs. A node is one trace (the last N methods); the edge (node, method) leads
 * to the node of that trace with the method on top. A node has eight ways, by the low bits of a method's number: most
 * edges are found there, and checked by reading the node they lead to. The others are in the thread's table. All
 * offsets below are shared with the plugin's C++ structures.
 *
 * <p>Thread.$hq is the node that the thread is in; 0 before its first call. enter() returns the caller's node, so
 * exit() is one store. On virtual threads, and where the clock is read at calls, enter() returns it negated, which
 * sends exit() to its slow path. In programs without these, the compilers see that the slow path is never taken and
 * leave it out; its calls would make them reload all of memory after each call.
 *
 * <p>Clocked calls: a node whose time is measured has ways to leaf methods only, and is in no way itself, so enter()
 * comes to enterSlowly(), which reads the clock and returns the node negated. A node that mostly takes less than a step
 * becomes brief. Between two brief nodes the clock is not read: their time is summed, and the collector divides it.
 *
 * <p>A platform thread has nodes of its own. Virtual threads share nodes, whose counts are added to atomically. $hq of
 * a virtual thread is its door, a node without ways, so that enter() always comes to enterSlowly(), which takes the
 * thread's node from its state. The state is given back when its outermost frame ends. A frame that begins on a virtual
 * thread and ends on its carrier, or the other way round, would leave the node of one in the other: the rewriter puts
 * no such probes into methods that change the current thread.
 */
public final class HprofTracker {
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

  /** Set at VMInit, cleared at VMDeath, by the agent. */
  static boolean live;

  /** Clocked calls: the clock is the processor's counter. Set once, before live, by the collector. */
  static boolean counter;

  /** Set while allocations are counted. */
  static boolean sites;

  /** Set while a unit wants exceptions caught, or exceptions made. */
  static boolean catching, making;

  /** Set while a unit wants calls and their ends. */
  static boolean calling;

  /** Set while a unit measures calls. */
  static boolean timing;

  /** Set before, on VMs with virtual threads, whose calls are not reported. Carriers report only objects. */
  static boolean carriers;

  /**
   * Offset of the eight bytes of any object that identify its class and hold an array's length; -1: not on this VM.
   * Read here, where no collector moves the object; the first four become the lower half.
   */
  static long headerAt = -1;

  private HprofTracker() {}

  /**
   * The agent calls this at VMInit, before it sets live: the first call of a native method runs Java code of the JDK to
   * look it up, which has probes itself; in a live probe the recursion would be endless. The agent exports
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

  /** prime() where only calls are timed: the natives of other probes may not be found yet. */
  static void primeTimed() {
    Timer.ends(Timer.constructed(Timer.begins(0)));
  }

  /** Returns the argument for exit(), unwind() and sync(); 0: not counted. */
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

  /** Sets the caller's node, whatever was lost in between. */
  public static void exit(long prev) {
    if (prev > 0) {
      Thread.currentThread().$hq = prev;
    } else if (prev < 0) {
      exitSlowly(prev);
    }
  }

  /** exit() without the slow path: in VMs without virtual threads, unless calls are clocked. */
  public static void exitQuickly(long prev) {
    if (prev != 0) Thread.currentThread().$hq = prev;
  }

  public static void unwind(long prev) {
    exit(prev);
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
      pass(state, thread.$hq, next);
      thread.$hq = next;
    } else {
      passShared(state);
      HprofMemory.UNSAFE.putLong(null, state + STATE_CURRENT, next);
    }
  }

  /** A method without calls: its time counts for its caller. */
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

  /** The slow path of enter(): the node has no way for the edge, or the thread has no node yet. */
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

  /** The slow path of leaf(). */
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

  /** The state of the thread, if the node is one of its own; else 0. */
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

  /** Lets enter() and leaf() find the edge themselves, if its way is free. */
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

  /** The target of the edge, from the thread's table or made by the agent; 0: no memory. */
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

  /** Clocked calls: the thread goes from one of its nodes to another. Between two brief ones no clock is read. */
  private static void pass(long state, long from, long to) {
    if (!isBrief(from) || !isBrief(to)) read(state, from);
  }

  private static void passShared(long state) {
    if (!live || HprofMemory.UNSAFE.getLong(null, state + STATE_STEP) == 0) return;
    long passed = passed(state);
    if (passed != 0) add(HprofMemory.UNSAFE.getLong(null, state + STATE_CURRENT) + NODE_SELF, passed);
  }

  /**
   * Adds the time since the last reading to the node, or to the sum of brief nodes, which the thread has not left
   * since. A node that mostly takes less than a step becomes brief.
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

  /** Ticks or nanoseconds since the last reading. */
  private static long passed(long state) {
    long now = counter ? counterTime() : System.nanoTime();
    long before = HprofMemory.UNSAFE.getLong(null, state + STATE_CLOCK);
    HprofMemory.UNSAFE.putLong(null, state + STATE_CLOCK, now);
    return before != 0 ? now - before : 0;
  }

  /** A new object or array. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void allocated(Object object) {
    if (sites) tell(object);
  }

  /** The arrays that multianewarray has made: the outermost and, dimensions - 1 levels deep, those in it. */
  public static void allocatedArrays(Object array, int dimensions) {
    if (!sites) return;
    tell(array);
    if (dimensions < 2) return;
    Object[] inner = (Object[]) array;
    for (int i = 0; i < inner.length; i++) allocatedArrays(inner[i], dimensions - 1);
  }

  /** enter() for a unit that gets each call. */
  public static long enterCall(int method) {
    if (!calling || carriers && Thread.currentThread() != Thread.currentCarrierThread() || isCarrier()) return 0;
    return callBegins(method);
  }

  /**
   * A carrier may be mounting or unmounting a virtual thread, in methods of several classes. JVMTI calls wait until no
   * thread does that: from such a thread, for ever.
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

  /**
   * enter() for a unit that measures calls, on any thread.
   *
   * <p>A call whose begin is counted must have the stack for exitTimed(), which may run after compiled frames became
   * interpreted, larger ones. Compilers and the interpreter check the stack for all locals of a method, also for those
   * that are not used: so with more than a page of them the stack overflows here, before the call is counted.
   */
  public static long enterTimed(int number) {
    if (!timing) return 0;
    long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5, c6, c7,
        c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5,
        f6, f7, f8, f9, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9, h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, i0, i1, i2, i3,
        i4, i5, i6, i7, i8, i9, j0, j1, j2, j3, j4, j5, j6, j7, j8, j9, k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, l0, l1,
        l2, l3, l4, l5, l6, l7, l8, l9, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, n0, n1, n2, n3, n4, n5, n6, n7, n8, n9,
        o0, o1, o2, o3, o4, o5, o6, o7, o8, o9, p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, q0, q1, q2, q3, q4, q5, q6, q7,
        q8, q9, r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, t0, t1, t2, t3, t4, t5,
        t6, t7, t8, t9, u0, u1, u2, u3, u4, u5, u6, u7, u8, u9, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, w0, w1, w2, w3,
        w4, w5, w6, w7, w8, w9, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, z0, z1,
        z2, z3, z4, z5, z6, z7, z8, z9;
    return Timer.begins(number);
  }

  /** super() or this() of a constructor has returned, so that exitTimed() will be called. */
  public static long constructedTimed(long call) {
    return call != 0 ? Timer.constructed(call) : 0;
  }

  /** exit() and unwind() of the same. */
  public static void exitTimed(long call) {
    if (call != 0) Timer.ends(call);
  }

  /** A handler in that method begins. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void caught(Object exception, int method) {
    if (catching && !isCarrier()) caughtException(exception, method);
  }

  /** A constructor of Throwable ends; those of subclasses are still to end. */
  @java.lang.invoke.DontInline
  @DontInline
  public static void made(Object exception) {
    if (making && !isCarrier()) madeException(exception);
  }

  private static void tell(Object object) {
    allocatedObject(object, headerAt < 0 ? 0 : headerOf(object));
  }

  /** Reads the eight bytes in the two halves in which they were just written: one load of both would stall. */
  private static long headerOf(Object object) {
    Unsafe unsafe = HprofMemory.UNSAFE;
    long at = headerAt;
    return (long) unsafe.getInt(object, at + 4) << 32 | unsafe.getInt(object, at) & 0xFFFFFFFFL;
  }

  /** Read here for the agent, whose JNI functions may read a field at an address from which a collector has moved it. */
  private static long stateAt(Thread thread) {
    return thread.$hq;
  }

  /** At a thread's first event: makes its state and returns the value of Thread.$hq; 0: the thread is not counted. */
  private static native long attach(Thread thread);

  /** Finds the edge, or makes it and the node. */
  private static native long miss(long state, long node, int method);

  /** Gives the state of a virtual thread back. */
  private static native void release(long state);

  /**
   * The processor's counter, in ticks. Takes less than half the time of System.nanoTime().
   */
  private static native long counterTime();

  private static native void allocatedObject(Object object, long header);

  private static native long callBegins(int method);

  private static native void callEnds(long call, boolean thrown);

  private static native void caughtException(Object exception, int method);

  private static native void madeException(Object exception);
}
