package hprof;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ObjIntConsumer;
import java.util.function.ObjLongConsumer;

/**
 * What a count has found. Its numbers can be read when it is closed, also by other threads.
 *
 * <p>Methods are named {@code com.acme.Parser.next}, for all methods of that name in the class, constructors
 * {@code com.acme.Parser.<init>}, inner classes {@code com.acme.Parser$Token}, classes of arrays {@code byte[]}. A name
 * with {@code *} at its end means all that begin so.
 */
public final class Counts implements AutoCloseable {
    /** A stack that made objects of a class. */
    public static final class Site {
        /** The name of the class. */
        public final String type;
        public final long objects;
        public final long bytes;
        /** As in a stack trace, the innermost frame first: {@code com.acme.Parser.next(Parser.java:17)}. */
        public final List<String> stack;

        Site(String type, long objects, long bytes, List<String> stack) {
            this.type = type;
            this.objects = objects;
            this.bytes = bytes;
            this.stack = stack;
        }

        /** True: the class has that name, or it begins as a name with {@code *} says. */
        public boolean isOf(String type) {
            return matches(type, this.type);
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(String.format("%,d objects, %,d bytes: %s%n", objects, bytes, type));
            for (String frame : stack) text.append("\tat ").append(frame).append(System.lineSeparator());
            return text.toString();
        }
    }

    private static final int METHODS = 1, FIRST = 2;  // in rows
    private static final int TRACE = 1, OBJECTS = 2, BYTES = 3, SITE = 4;  // from the place of a site; its class comes first

    private final boolean all;
    private final Thread owner = Thread.currentThread();
    private long handle;
    private long[] rows;  // as Agent.end returns them
    private Map<String, Long> calls;
    private List<Site> sites;

    Counts(boolean all) {
        this.all = all;
    }

    void begin() {
        handle = Agent.begin(all ? 1 : 0, owner);
        if (handle <= 0) throw Agent.refusal((int) handle);
    }

    /** Ends the count; the thread that began it calls this. Once is enough. */
    @Override
    public void close() {
        if (rows != null) return;
        if (!all && Thread.currentThread() != owner) throw new IllegalStateException("the thread that began the count ends it");
        rows = Agent.end(handle);
        if (rows == null) throw Agent.refusal(Agent.isPresent() ? Agent.NO_MEMORY : Agent.ENDED);
    }

    /** The calls of all methods. */
    public long calls() {
        return callsOf("*");
    }

    /**
     * The calls of a method.
     *
     * @throws IllegalArgumentException there is no such method, or its calls are not counted
     */
    public long calls(String method) {
        long calls = callsOf(method);
        if (calls == 0 && !method.endsWith("*") && !names().counts(method))
            throw new IllegalArgumentException("calls of " + method + " are not counted: no class that has been loaded has a "
                + "method of that name, or include= leaves it out, or the VM replaces its code by its own");
        return calls;
    }

    /** The calls of each method that was called, by its name. */
    public Map<String, Long> callsByMethod() {
        if (calls != null) return calls;
        Map<String, Long> found = new TreeMap<>();
        eachMethod((method, count) -> found.merge(method, count, Long::sum));
        return calls = Collections.unmodifiableMap(found);
    }

    /** All objects. */
    public long objects() {
        return objects("*");
    }

    /** The objects of a class itself, not those of its subclasses. */
    public long objects(Class<?> type) {
        return objects(type.getTypeName());
    }

    public long objects(String type) {
        return sum(type, OBJECTS);
    }

    /** The bytes of all objects. */
    public long bytes() {
        return bytes("*");
    }

    public long bytes(Class<?> type) {
        return bytes(type.getTypeName());
    }

    public long bytes(String type) {
        return sum(type, BYTES);
    }

    /** The objects of each class, by its name. */
    public Map<String, Long> objectsByClass() {
        return byClass(OBJECTS);
    }

    /** The bytes of the objects of each class, by its name. */
    public Map<String, Long> bytesByClass() {
        return byClass(BYTES);
    }

    /** The stacks that made objects, each with a class. */
    public List<Site> sites() {
        if (sites != null) return sites;
        List<Site> found = new ArrayList<>();
        eachSite((type, at) -> found.add(new Site(type, rows[at + OBJECTS], rows[at + BYTES], names().stack(rows[at + TRACE]))));
        found.sort(Comparator.comparingLong((Site site) -> -site.objects).thenComparing(site -> site.type));
        return sites = Collections.unmodifiableList(found);
    }

    /** Where the objects of a class were made, as text: their stacks, the one with most objects first. */
    public String where(String type) {
        StringBuilder text = new StringBuilder();
        for (Site site : sites()) {
            if (site.isOf(type)) text.append(site);
        }
        return text.toString();
    }

    public String where(Class<?> type) {
        return where(type.getTypeName());
    }

    /** A summary for people. */
    @Override
    public String toString() {
        if (rows == null) return "a count that has not ended";
        return String.format("%,d calls, %,d objects, %,d bytes", calls(), objects(), bytes());
    }

    private Map<String, Long> byClass(int amount) {
        Map<String, Long> sums = new TreeMap<>();
        eachSite((type, at) -> sums.merge(type, rows[at + amount], Long::sum));
        return sums;
    }

    private long callsOf(String pattern) {
        long[] sum = new long[1];
        eachMethod((method, count) -> sum[0] += matches(pattern, method) ? count : 0);
        return sum[0];
    }

    private long sum(String pattern, int amount) {
        long[] sum = new long[1];
        eachSite((type, at) -> sum[0] += matches(pattern, type) ? rows[at + amount] : 0);
        return sum[0];
    }

    private void eachMethod(ObjLongConsumer<String> visit) {
        require(Agent.CALLS);
        for (int i = FIRST; i < firstSite(); i += 2) {
            String method = names().method(rows[i]);
            if (!isOwn(method)) visit.accept(method, rows[i + 1]);
        }
    }

    /** Visits the class and the place in rows of each site. */
    private void eachSite(ObjIntConsumer<String> visit) {
        require(Agent.OBJECTS);
        for (int i = firstSite(); i < rows.length; i += SITE) {
            String type = names().type(rows[i]);
            if (!type.equals(Counts.class.getName())) visit.accept(type, i);
        }
    }

    private Names names() {
        return Names.of(rows[0] / Agent.SESSION);
    }

    private static boolean matches(String pattern, String name) {
        int last = pattern.length() - 1;
        return pattern.endsWith("*") ? name.startsWith(pattern.substring(0, last)) : name.equals(pattern);
    }

    /** Of these classes, which run inside of an outer count. */
    private static boolean isOwn(String method) {
        return method.startsWith("hprof.Hprof.") || method.startsWith("hprof.Counts.") || method.startsWith("hprof.Agent.")
            || method.startsWith("hprof.Names.");
    }

    private int firstSite() {
        return FIRST + 2 * (int) rows[METHODS];
    }

    private void require(long what) {
        if (rows == null) throw new IllegalStateException("the count has not ended: call close() first");
        if ((rows[0] & what) == 0)
            throw new IllegalStateException(what == Agent.CALLS ? "calls are not counted: the agent has said why on standard error"
                : "objects are not counted: load the agent when the VM starts; else it has said why on standard error");
    }
}
