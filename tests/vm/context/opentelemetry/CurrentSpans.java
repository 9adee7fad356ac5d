import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;

/** Opens and closes scopes as tracers do, and prints where the example has not said the current span. */
public class CurrentSpans {
  static int steps;

  /** By OpenTelemetry's rule: a scope that is not the thread's current one changes nothing when it is closed. */
  static class Storage implements ContextStorage {
    final ThreadLocal<Context> now = new ThreadLocal<>();

    public Context current() {
      return now.get();
    }

    public Scope attach(Context to) {
      Context before = now.get();
      if (to == null || to == before) return () -> {};
      now.set(to);
      return () -> {
        if (now.get() == to) now.set(before);
      };
    }
  }

  static void check(ContextStorage storage, String step) {
    Context current = storage.current();
    long wanted = current == null ? 0 : Long.parseLong(((Span) current).getSpanContext().getSpanId(), 16);
    long said = hprof.Context.SPAN.get();
    if (said != wanted) System.out.println(step + ": said " + said + ", current is " + wanted);
    steps++;
  }

  public static void main(String[] args) throws Exception {
    ContextStorage storage = new Hprof(new Storage());
    Span x = new Span(10), y = new Span(11), z = new Span(12);
    Scope outer = storage.attach(x), inner = storage.attach(y);
    check(storage, "two scopes");
    inner.close();
    check(storage, "the inner one closed");
    inner.close();
    check(storage, "closed twice");
    outer.close();
    check(storage, "both closed");

    outer = storage.attach(x);
    inner = storage.attach(z);
    outer.close();
    check(storage, "the outer one closed first");
    inner.close();
    check(storage, "then the inner one");

    Scope none = storage.attach(null);
    check(storage, "no context");
    none.close();
    check(storage, "no context, closed");

    Scope[] others = new Scope[1];
    Thread other = new Thread(() -> {
      storage.attach(y);
      others[0] = storage.attach(x);
    });
    other.start();
    other.join();
    storage.attach(z);
    others[0].close();
    check(storage, "closed on another thread");
    System.out.println(steps + " steps");
  }
}
