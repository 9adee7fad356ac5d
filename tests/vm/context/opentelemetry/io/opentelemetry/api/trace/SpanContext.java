package io.opentelemetry.api.trace;

/** A trace and a span of the same number; of none all digits are 0. */
public final class SpanContext {
  private final int number;

  public SpanContext(int number) {
    this.number = number;
  }

  public String getTraceId() {
    return String.format("%032x", number);
  }

  public String getSpanId() {
    return String.format("%016x", number);
  }

  public static SpanContext getInvalid() {
    return new SpanContext(0);
  }
}
