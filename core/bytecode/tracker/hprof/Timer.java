package hprof;

/**
 * Natives of HprofTracker that the agent registers, since the VM finds none in the library of an agent that is just
 * being attached. Not in java.base: the VM warns about natives that are registered for classes of its named modules.
 */
public final class Timer {
  private Timer() {}

  /**
   * A call of the method with that number begins; 0: it is not timed. ~number: of a constructor, whose end is not told
   * if super() or this() fails; constructed() follows if not.
   */
  public static native long begins(int number);

  public static native long constructed(long call);

  public static native void ends(long call);
}
