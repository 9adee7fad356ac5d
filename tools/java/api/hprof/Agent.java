package hprof;

import java.lang.reflect.InvocationTargetException;

/** The native methods of the agent, which binds them to this class when it is asked to: see plugins/count. */
final class Agent {
    /** What name() knows. */
    static final int METHOD = 0, CLASS = 1, FRAME = 2;

    /** What end() has; the session's number times SESSION is added. */
    static final long CALLS = 1, OBJECTS = 2, SESSION = 4;

    // Answers of begin(), which else are handles of counts.
    static final int ENDED = 0, NO_MEMORY = -1, VIRTUAL = -2;

    private static volatile boolean isBound;

    private Agent() {}

    static boolean isPresent() {
        return (isBound || bind()) && isRunning();
    }

    static void require() {
        if (!isBound && !bind()) throw refusal(ENDED);
    }

    static IllegalStateException refusal(int why) {
        return new IllegalStateException(
            why == NO_MEMORY ? "the hprof agent has no memory for this count (max-memory=), or was stopped since it began"
            : why == VIRTUAL ? "a virtual thread cannot count its own calls and objects: count with Threads.ALL"
            : "the hprof agent does not count in this VM: start it with -agentpath:/path/to/libhprof.so=count=y,include=com.acme.*");
    }

    /** Asks the class that the agent defines to bind the methods below. */
    private static synchronized boolean bind() {
        try {
            Class<?> counter = Class.forName("hprof.Counter", true, null);
            isBound = (Boolean) counter.getMethod("bind", Class.class).invoke(null, Agent.class);
        } catch (ClassNotFoundException | NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            isBound = false;
        }
        return isBound;
    }

    static native boolean isRunning();

    /** threads: 0 for the calling one, 1 for all. */
    static native long begin(int threads, Thread caller);

    /** CALLS and OBJECTS; the number of methods that were called; these, each with its calls; sites: class, trace, objects, bytes. */
    static native long[] end(long handle);

    /** Of a session; null: the agent was stopped since, or has no memory. */
    static native String name(long session, int kind, long number);

    /** The frames of a trace, as name() knows them, the innermost first; null as for name(). */
    static native long[] frames(long session, long trace);

    /** True: the calls of a method with that name are counted. */
    static native boolean counts(String method);
}
