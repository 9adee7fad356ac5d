package java.lang;

/** Targets of probes that break a rule of hprof/service/probes.h each. */
public final class HprofWrongTargets {
  static boolean live;
  static int sum;
  static Object last;
  static sun.misc.Unsafe unsafe;

  /** What is right. */
  public static void right(int method) {
    if (live) sum += method;
  }

  public void notStatic(int method) {}

  public static long wrongType(int method) {
    return method;
  }

  public static void makes(int method) {
    if (live) makesLater();
  }

  private static void makesLater() {
    last = new Object();
  }

  public static void throwsNull(int method) {
    throw null;
  }

  public static void calls(int method) {
    sum = Math.max(sum, method);
  }

  /** Has a body in Java, which the compilers replace. */
  public static void callsIntrinsic(int method) {
    if (live) unsafe.getAndAddLong(null, 0, 1);
  }

  /** Native in all JDKs, by another name from 9 on. */
  public static void swaps(int method) {
    if (live) unsafe.compareAndSwapLong(null, 0, sum, method);
  }

  public static void lambda(int method) {
    Runnable body = () -> sum++;
    last = body;
  }

  static Object elsewhere() {
    return com.acme.Elsewhere.value;
  }

  static void notPublic(int method) {}

  static native void unregistered(int method);
}
