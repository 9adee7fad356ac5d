package hprof.junit;

import hprof.Counts;
import hprof.Hprof;
import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * Counts what the thread of a test method does in it, for {@link MaxCalls}, {@link MaxObjects}, {@link MaxBytes} and
 * {@link SameCounts}. Objects that JUnit makes on the way to the method are left out.
 *
 * <p>Without the agent in the VM such tests are aborted, or fail with {@code -Dhprof.required=true}.
 */
public final class HprofExtension implements InvocationInterceptor {
    private static final int MOST_ROWS = 10;  // of a message
    private static final Pattern INVOCATION = Pattern.compile("\\[test-template-invocation:#(\\d+)\\]$");

    @Override
    public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        intercept(invocation, method.getExecutable(), context);
    }

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) throws Throwable {
        intercept(invocation, method.getExecutable(), context);
    }

    private static void intercept(Invocation<Void> invocation, Method method, ExtensionContext context) throws Throwable {
        if (!Hprof.isPresent()) {
            String why = "the hprof agent does not count in this VM: start it with -agentpath:/path/to/libhprof.so=count=y,include=com.acme.*";
            if (Boolean.getBoolean("hprof.required")) throw new AssertionFailedError(why);
            throw new TestAbortedException(why);
        }
        List<MaxCalls> calls = limits(method, context, MaxCalls.class);
        for (MaxCalls limit : calls) load(limit.of(), context);
        Counts counts = Hprof.count(invocation::proceed);
        List<String> failures = new ArrayList<>();
        for (MaxCalls limit : calls) {
            long now = counts.calls(limit.of());
            if (now > limit.value()) failures.add(tooMany("calls", limit.of(), limit.value(), now) + top(counts.callsByMethod()));
        }
        for (MaxObjects limit : limits(method, context, MaxObjects.class)) {
            if (counts.objects(limit.of()) <= limit.value()) continue;
            List<Counts.Site> sites = sitesOf(counts, method);
            long now = sum(sites, limit.of(), site -> site.objects);
            if (now > limit.value()) failures.add(tooMany("objects", limit.of(), limit.value(), now) + where(sites, limit.of()));
        }
        for (MaxBytes limit : limits(method, context, MaxBytes.class)) {
            if (counts.bytes(limit.of()) <= limit.value()) continue;
            List<Counts.Site> sites = sitesOf(counts, method);
            long now = sum(sites, limit.of(), site -> site.bytes);
            if (now > limit.value()) failures.add(tooMany("bytes", limit.of(), limit.value(), now) + where(sites, limit.of()));
        }
        Optional<SameCounts> same = annotated(method, context, SameCounts.class);
        if (same.isPresent()) compare(fileOf(same.get(), method, context), counts.callsByMethod(), sitesOf(counts, method), failures);
        if (!failures.isEmpty()) throw new AssertionFailedError(String.join(System.lineSeparator(), failures));
    }

    /** Those of the method, or else those of its class and the classes around that. */
    private static <A extends Annotation> List<A> limits(Method method, ExtensionContext context, Class<A> type) {
        List<A> found = new ArrayList<>(AnnotationSupport.findRepeatableAnnotations(method, type));
        for (Class<?> owner = context.getRequiredTestClass(); owner != null && found.isEmpty(); owner = owner.getEnclosingClass())
            found.addAll(AnnotationSupport.findRepeatableAnnotations(owner, type));
        return found;
    }

    private static <A extends Annotation> Optional<A> annotated(Method method, ExtensionContext context, Class<A> type) {
        Optional<A> found = AnnotationSupport.findAnnotation(method, type);
        for (Class<?> owner = context.getRequiredTestClass(); owner != null && !found.isPresent(); owner = owner.getEnclosingClass())
            found = AnnotationSupport.findAnnotation(owner, type);
        return found;
    }

    /** Loads the method's class, so that a test that does not use it passes. */
    private static void load(String method, ExtensionContext context) {
        if (method.endsWith("*")) return;
        String owner = method.substring(0, Math.max(0, method.lastIndexOf('.')));
        try {
            Class.forName(owner, false, context.getRequiredTestClass().getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionFailedError("@MaxCalls(of = \"" + method + "\"): there is no class " + owner);
        }
    }

    /** Those that the test method made, not JUnit between this class and the method. */
    private static List<Counts.Site> sitesOf(Counts counts, Method method) {
        String test = method.getDeclaringClass().getName() + "." + method.getName() + "(";
        String own = HprofExtension.class.getName() + ".";
        List<Counts.Site> found = new ArrayList<>();
        for (Counts.Site site : counts.sites()) {
            boolean keeps = true;
            for (String frame : site.stack) {
                keeps = !frame.startsWith(own);
                if (!keeps || frame.startsWith(test)) break;
            }
            if (keeps) found.add(site);
        }
        return found;
    }

    private static long sum(List<Counts.Site> sites, String type, ToLongFunction<Counts.Site> amount) {
        return sites.stream().filter(site -> site.isOf(type)).mapToLong(amount).sum();
    }

    private static String tooMany(String what, String of, long most, long now) {
        return String.format("%,d %s%s, at most %,d allowed%n", now, what, of.equals("*") ? "" : " of " + of, most);
    }

    private static String top(Map<String, Long> calls) {
        StringBuilder text = new StringBuilder();
        calls.entrySet().stream().sorted(Map.Entry.<String, Long>comparingByValue().reversed()).limit(MOST_ROWS)
            .forEach(row -> text.append(String.format("%,14d calls of %s%n", row.getValue(), row.getKey())));
        return text.toString();
    }

    private static String where(List<Counts.Site> sites, String type) {
        StringBuilder text = new StringBuilder();
        sites.stream().filter(site -> site.isOf(type)).limit(MOST_ROWS).forEach(text::append);
        return text.toString();
    }

    private static Path fileOf(SameCounts same, Method method, ExtensionContext context) {
        Matcher invocation = INVOCATION.matcher(context.getUniqueId());
        String number = invocation.find() ? "-" + invocation.group(1) : "";
        return Paths.get(same.value(), context.getRequiredTestClass().getName() + "." + method.getName() + number + ".counts");
    }

    private static void compare(Path file, Map<String, Long> calls, List<Counts.Site> sites, List<String> failures) throws IOException {
        Map<String, Long> now = new TreeMap<>(), before = new TreeMap<>();
        calls.forEach((method, count) -> now.put("calls of " + method, count));
        for (Counts.Site site : sites) now.merge("objects of " + site.type, site.objects, Long::sum);
        if (Boolean.getBoolean("hprof.update")) {
            List<String> lines = new ArrayList<>();
            now.forEach((row, count) -> lines.add(count + " " + row));
            if (file.getParent() != null) Files.createDirectories(file.getParent());
            Files.write(file, lines, StandardCharsets.UTF_8);
            return;
        }
        if (!Files.exists(file)) {
            failures.add("there are no counts in " + file + ": -Dhprof.update=true writes them");
            return;
        }
        int number = 0;
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            number++;
            String[] parts = line.split(" ", 2);
            if (parts.length != 2 || !parts[0].matches("\\d{1,18}")) throw new AssertionFailedError(file + ", line " + number + " has no number and name: " + line);
            before.put(parts[1], Long.parseLong(parts[0]));
        }
        TreeSet<String> rows = new TreeSet<>(before.keySet());
        rows.addAll(now.keySet());
        rows.removeIf(row -> now.getOrDefault(row, 0L).equals(before.getOrDefault(row, 0L)));
        rows.stream().limit(MOST_ROWS).forEach(row -> failures.add(String.format("%,d %s, not %,d as in %s", now.getOrDefault(row, 0L), row,
            before.getOrDefault(row, 0L), file) + (row.startsWith("objects of ") ? System.lineSeparator() + where(sites, row.substring("objects of ".length())) : "")));
        if (rows.size() > MOST_ROWS) failures.add((rows.size() - MOST_ROWS) + " rows more differ");
    }
}
