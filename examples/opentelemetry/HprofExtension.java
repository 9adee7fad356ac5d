// SPDX-License-Identifier: Apache-2.0
// An extension of the OpenTelemetry Java agent: Hprof with the labels route (of HTTP its path, a segment with a digit as *; else the name of
// the first span) and those of the baggage that -Dotel.hprof.baggage=tenant,... names.
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.instrumentation.api.instrumenter.LocalRootSpan;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.trace.ReadableSpan;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;

public class HprofExtension implements AutoConfigurationCustomizerProvider {
  static final AttributeKey<String> PATH = AttributeKey.stringKey("url.path");
  static final Pattern NUMBERED = Pattern.compile("[^/]*[0-9][^/]*");
  static volatile List<String> baggage = Collections.emptyList();

  @Override
  public void customize(AutoConfigurationCustomizer configuration) {
    ContextStorage.addWrapper(storage -> new Hprof(storage, HprofExtension::labels));
    configuration.addPropertiesCustomizer(properties -> {
      baggage = properties.getList("otel.hprof.baggage");
      return Collections.emptyMap();
    });
  }

  static int labels(Context context) {
    int labels = 0;
    Span root = LocalRootSpan.fromContextOrNull(context);
    if (root instanceof ReadableSpan) {
      String path = ((ReadableSpan) root).getAttribute(PATH);
      labels = Hprof.label(0, "route", path == null ? ((ReadableSpan) root).getName() : route(path));
    }
    for (String name : baggage) {
      String value = Baggage.fromContext(context).getEntryValue(name);
      if (value != null) labels = Hprof.label(labels, name, value);
    }
    return labels;
  }

  static String route(String path) {
    for (int i = 0; i < path.length(); i++) {
      if (path.charAt(i) >= '0' && path.charAt(i) <= '9') return NUMBERED.matcher(path).replaceAll("*");
    }
    return path;
  }
}
