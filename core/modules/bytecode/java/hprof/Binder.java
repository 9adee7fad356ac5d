package hprof;

/**
 * Registers the native methods of targets. From here no VM warns about those of its named modules, as it does where no
 * Java code of the boot loader is the caller.
 */
public final class Binder {
  private Binder() {}

  static void bind() {
    bindNow();
  }

  private static native void bindNow();
}
