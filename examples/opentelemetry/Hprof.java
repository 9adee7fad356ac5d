// SPDX-License-Identifier: Apache-2.0
// Tells the agent (plugin=context) what each thread works for, when OpenTelemetry changes a thread's context: trace, span, and labels that
// a function of the program's makes of the context. docs/continuous.md says where to pass it. Without the agent it does nothing.
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;

class Hprof implements ContextStorage {
  static volatile boolean isThere;             // the agent, which may come at any time
  static volatile long next = System.nanoTime();
  // Of a session of the agent: they are void after it, so they are asked for anew each second.
  static final Map<String, Integer> LABELS = new ConcurrentHashMap<>();
  final ContextStorage storage;
  final ToIntFunction<Context> labels;
  Hprof(ContextStorage storage) { this(storage, context -> 0); }
  Hprof(ContextStorage storage, ToIntFunction<Context> labels) { this.storage = storage; this.labels = labels; }
  public Context current() { return storage.current(); }
  public Scope attach(Context context) {
    Scope scope = storage.attach(context);
    sayCurrent();
    return () -> { scope.close(); sayCurrent(); };
  }
  // Asked for each time: a scope that is closed twice, out of order or on another thread changes nothing.
  void sayCurrent() {
    if (System.nanoTime() - next >= 0) lookForAgent();
    if (!isThere) return;
    Context context = current();
    SpanContext of = context == null ? SpanContext.getInvalid() : Span.fromContext(context).getSpanContext();
    try {
      Calls.SET.invokeExact(number(of.getTraceId(), 0), number(of.getTraceId(), 16), number(of.getSpanId(), 0),
          context == null ? 0 : labels.applyAsInt(context));
    } catch (Throwable impossible) { throw new AssertionError(impossible); }
  }
  // These labels and one more.
  static int label(int labels, String name, String value) {
    return LABELS.computeIfAbsent(labels + name + ':' + value, key -> {
      try { return (int) Calls.LABEL.invokeExact(labels, name, value); } catch (Throwable impossible) { throw new AssertionError(impossible); }
    });
  }
  static void lookForAgent() {
    next = System.nanoTime() + 1_000_000_000;
    LABELS.clear();
    if (isThere) return;
    try {
      Class.forName("hprof.Context", true, null);
      isThere = true;
    } catch (ClassNotFoundException notYet) { }
  }
  static long number(String id, int at) { return Long.parseUnsignedLong(id, at, at + 16, 16); }
  static class Calls {
    static final MethodHandle SET = find("set", void.class, long.class, long.class, long.class, int.class);
    static final MethodHandle LABEL = find("label", int.class, int.class, String.class, String.class);
    static MethodHandle find(String name, Class<?> result, Class<?>... arguments) {
      try {
        return MethodHandles.publicLookup().findStatic(Class.forName("hprof.Context", true, null), name, MethodType.methodType(result, arguments));
      } catch (ReflectiveOperationException impossible) { throw new AssertionError(impossible); }
    }
  }
}
