package hprof;

/** Where hprof.jar finds the agent, by reflection. The agent defines this class in the boot loader. */
public final class Counter {
    private Counter() {}

    /** Binds the native methods of hprof.Agent; the jar may be loaded several times. */
    public static native boolean bind(Class<?> agent);
}
