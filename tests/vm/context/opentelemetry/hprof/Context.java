package hprof;

/** In place of the agent's class: keeps what the example has said last on each thread. */
public final class Context {
  public static final ThreadLocal<Long> SPAN = ThreadLocal.withInitial(() -> 0L);

  public static void set(long traceHigh, long traceLow, long span, int labels) {
    if (traceHigh != 0 || traceLow != span) throw new AssertionError("trace " + traceHigh + " " + traceLow);
    SPAN.set(span);
  }

  public static int label(int labels, String name, String value) {
    throw new AssertionError("no labels were asked for");
  }
}
