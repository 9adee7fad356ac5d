package java.lang;

/** The class after its rewriting; only to compile against. */
public class Thread {
  public transient long $hprof;

  public static native Thread currentThread();

  /** JDK 19 and later. */
  public final native long threadId();

  /** JDK 21 and later. */
  static native Thread currentCarrierThread();
}
