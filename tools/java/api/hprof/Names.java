package hprof;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The names of what a session of the agent counts; each is asked for once, when it is needed. */
final class Names {
    private static volatile Names last = new Names(0);

    private final long session;
    private final Map<Long, String> methods = new ConcurrentHashMap<>();
    private final Map<Long, String> classes = new ConcurrentHashMap<>();
    private final Map<Long, String> frames = new ConcurrentHashMap<>();
    private final Map<Long, List<String>> stacks = new ConcurrentHashMap<>();
    private final Set<String> counted = ConcurrentHashMap.newKeySet();

    private Names(long session) {
        this.session = session;
    }

    static Names of(long session) {
        Names names = last;
        if (names.session != session) last = names = new Names(session);
        return names;
    }

    String method(long id) {
        return named(methods, Agent.METHOD, id);
    }

    String type(long id) {
        return named(classes, Agent.CLASS, id);
    }

    List<String> stack(long trace) {
        List<String> known = stacks.get(trace);
        if (known != null) return known;
        List<String> stack = new ArrayList<>();
        for (long frame : known(Agent.frames(session, trace))) stack.add(named(frames, Agent.FRAME, frame));
        stack = Collections.unmodifiableList(stack);
        stacks.put(trace, stack);
        return stack;
    }

    /** True: the calls of a method with that name are counted. */
    boolean counts(String method) {
        if (counted.contains(method)) return true;
        boolean isCounted = Agent.counts(method);
        if (isCounted) counted.add(method);
        return isCounted;
    }

    private String named(Map<Long, String> names, int kind, long id) {
        String name = names.get(id);
        if (name == null) names.put(id, name = known(Agent.name(session, kind, id)));
        return name;
    }

    private static <T> T known(T answer) {
        if (answer == null) throw new IllegalStateException("the hprof agent was stopped, or had no memory, before the names of this count were read");
        return answer;
    }
}
