package hprof;

/**
 * Counts what code does, exactly: the calls of each method, and the objects that it makes. Needs the hprof agent, as
 * in {@code -agentpath:/path/to/libhprof.so=count=y,include=com.acme.*}.
 *
 * <pre>{@code
 * Counts counts = Hprof.count(() -> parser.parse(text));
 * assertEquals(3, counts.calls("com.acme.Parser.next"));
 * assertEquals(0, counts.objects("byte[]"), () -> counts.where("byte[]"));
 * }</pre>
 *
 * <p>Nothing is counted outside of counts, which may be nested and may run on any number of threads at once.
 */
public final class Hprof {
    /** Whose calls and objects are counted. */
    public enum Threads {
        /** The thread that begins the count. */
        CALLING,
        /** All threads. */
        ALL
    }

    /** What is counted. */
    @FunctionalInterface
    public interface Body<E extends Throwable> {
        void run() throws E;
    }

    private Hprof() {}

    /** True: the agent counts in this VM, so that the other methods do not throw {@link IllegalStateException}. */
    public static boolean isPresent() {
        return Agent.isPresent();
    }

    /**
     * Runs the body, and counts what the calling thread does in it. An exception of the body is passed on, and ends the count.
     *
     * @throws IllegalStateException the agent does not count in this VM; the message says how to start it
     */
    public static <E extends Throwable> Counts count(Body<E> body) throws E {
        return count(Threads.CALLING, body);
    }

    /** Runs the body, and counts what these threads do meanwhile. */
    public static <E extends Throwable> Counts count(Threads threads, Body<E> body) throws E {
        Counts counts = begin(threads);
        try {
            body.run();
        } finally {
            counts.close();
        }
        return counts;
    }

    /**
     * Begins a count of what the calling thread does, which the same thread ends with {@link Counts#close}.
     *
     * @throws IllegalStateException as {@link #count(Body)}
     */
    public static Counts begin() {
        return begin(Threads.CALLING);
    }

    /** Begins a count of what these threads do. */
    public static Counts begin(Threads threads) {
        Agent.require();
        Counts counts = new Counts(threads == Threads.ALL);
        counts.begin();
        return counts;
    }
}
