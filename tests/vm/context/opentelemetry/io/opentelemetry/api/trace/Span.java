package io.opentelemetry.api.trace;

import io.opentelemetry.context.Context;

public final class Span implements Context {
  private final SpanContext context;

  public Span(int number) {
    context = new SpanContext(number);
  }

  public SpanContext getSpanContext() {
    return context;
  }

  public static Span fromContext(Context context) {
    return (Span) context;
  }
}
