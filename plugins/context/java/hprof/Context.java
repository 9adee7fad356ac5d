package hprof;

/** What a tracer calls, by reflection, to say what the calling thread works for. The agent defines this class in the boot loader. */
public final class Context {
    /** 0: nobody wants to know; 1: native threads are told apart; 2: the ids of threads, virtual ones too; 3: likewise, by HprofContext. Set by the agent. */
    private static int mode;

    private Context() {}

    /** The trace id in two halves, the span id and a number of label(), of what the calling thread does from now on; all 0: nothing. */
    public static void set(long traceHigh, long traceLow, long span, int labels) {
        if (mode > 1) {
            long thread = Thread.currentThread().threadId();
            if (mode != 3 || !HprofContext.set(thread, traceHigh, traceLow, span, labels)) store(thread, traceHigh, traceLow, span, labels);
        } else if (mode != 0) {
            store(0, traceHigh, traceLow, span, labels);
        }
    }

    /** The number of a label for set(); 0: nobody wants to know. There should be few different ones. */
    public static int label(String name, String value) {
        return label(0, name, value);
    }

    /** The number of these labels and one more. */
    public static int label(int labels, String name, String value) {
        return mode == 0 ? 0 : add(labels, name, value);
    }

    private static native void store(long thread, long traceHigh, long traceLow, long span, int labels);

    private static native int add(int labels, String name, String value);
}
