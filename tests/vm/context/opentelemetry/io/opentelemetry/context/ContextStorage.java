package io.opentelemetry.context;

public interface ContextStorage {
  Scope attach(Context context);

  Context current();
}
