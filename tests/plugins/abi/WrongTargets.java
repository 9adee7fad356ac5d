package java.lang;

/** Targets of probes that break a rule of hprof/service/probes.h each. */
final class WrongTargets {
  static boolean live;
  static int sum;
  static Object last;

  /** What is right. */
  static void right(int method) {
    if (live) sum += method;
  }

  void notStatic(int method) {}

  static long wrongType(int method) {
    return method;
  }

  static void makes(int method) {
    if (live) makesLater();
  }

  private static void makesLater() {
    last = new Object();
  }

  static void throwsNull(int method) {
    throw null;
  }

  static void calls(int method) {
    sum = Math.max(sum, method);
  }

  static void lambda(int method) {
    Runnable body = () -> sum++;
    last = body;
  }

  static Object elsewhere() {
    return com.acme.Elsewhere.value;
  }

  static native void unregistered(int method);
}
