// SPDX-License-Identifier: Apache-2.0
// Tells the agent (plugin=context) which trace and span each thread works for, when OpenTelemetry changes a thread's context.
// docs/continuous.md says where to pass it. Without the agent it does nothing.
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

class Hprof implements ContextStorage {
  static final MethodHandle SET = find();   // null without the agent
  final ContextStorage next;
  Hprof(ContextStorage next) { this.next = next; }
  public Context current() { return next.current(); }
  public Scope attach(Context context) {
    Scope scope = next.attach(context);
    sayCurrent();
    return () -> { scope.close(); sayCurrent(); };
  }
  // Asked for each time: a scope that is closed twice, out of order or on another thread changes nothing.
  void sayCurrent() {
    Context context = current();
    SpanContext of = context == null ? SpanContext.getInvalid() : Span.fromContext(context).getSpanContext();
    try {
      if (SET != null) SET.invokeExact(number(of.getTraceId(), 0), number(of.getTraceId(), 16), number(of.getSpanId(), 0), 0);
    } catch (Throwable impossible) { throw new AssertionError(impossible); }
  }
  static long number(String id, int at) { return Long.parseUnsignedLong(id, at, at + 16, 16); }
  static MethodHandle find() {
    try {
      return MethodHandles.publicLookup().findStatic(Class.forName("hprof.Context", true, null), "set",
          MethodType.methodType(void.class, long.class, long.class, long.class, int.class));
    } catch (ReflectiveOperationException absent) { return null; }
  }
}
