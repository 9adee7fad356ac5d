import java.io.BufferedReader;
import java.io.FileReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Checks the tracker against the truth: stack traces, and counts that the program keeps itself. */
public final class Expect {
  /** Runs the cases; standard output must be the same with and without probes. */
  public static void main(String[] args) throws Exception {
    if (args.length > 0) read(args[0]);
    Case.run();
    if (!done()) System.exit(1);
  }

  private static final Map<Integer, String> NAMES = new HashMap<Integer, String>();
  private static final Map<String, Integer> CALLS = new TreeMap<String, Integer>();
  private static int checks;
  private static int failures;

  /** Called first thing by each method but leaves: the context must be that of the stack. */
  static void called() {
    StackTraceElement[] stack = new Throwable().getStackTrace();
    times(stack[1].getClassName() + "." + stack[1].getMethodName(), 1);
    compare(stack);
  }

  /** The context must be that of the stack. */
  static void here() {
    compare(new Throwable().getStackTrace());
  }

  /** The method that calls this, first thing, has these arguments. */
  static void passed(Object self, Object first, Object last, long firstValue, long lastValue) {
    same(CountingTracker.PASSED.get(), self, first, last, firstValue, lastValue);
  }

  /** The method that has just returned has returned that. */
  static void returned(Object result, long value) {
    same(CountingTracker.RETURNED.get(), result, value);
  }

  private static synchronized void same(Object[] seen, Object... wanted) {
    if (!CountingTracker.passes) return;
    checks++;
    boolean same = seen != null;
    for (int i = 0; i < wanted.length && same; i++) {
      same = wanted[i] instanceof Long ? wanted[i].equals(seen[i]) : wanted[i] == seen[i];
    }
    if (!same) fail("values " + Arrays.toString(seen) + ", not " + Arrays.toString(wanted));
  }

  /** For methods that cannot count themselves. */
  static synchronized void times(String name, int count) {
    Integer old = CALLS.get(name);
    CALLS.put(name, old == null ? count : old + count);
  }

  private static synchronized void compare(StackTraceElement[] stack) {
    if (!CountingTracker.used) return;
    checks++;
    List<String> real = new ArrayList<String>();
    for (StackTraceElement frame : stack) {
      String name = frame.getClassName();
      // Methods of hidden classes and of the JDK have no probes.
      if (name.startsWith("Case") && name.indexOf('/') < 0) real.add(name + "." + frame.getMethodName());
    }
    List<String> seen = new ArrayList<String>();
    for (int id : CountingTracker.path()) seen.add(NAMES.get(id));
    if (!real.equals(seen)) fail("context " + seen + "\n  but stack " + real);
  }

  private static void fail(String text) {
    if (failures++ < 20) System.out.println("FAIL " + text);
  }

  static void read(String ids) throws Exception {
    try (BufferedReader in = new BufferedReader(new FileReader(ids))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        NAMES.put(Integer.parseInt(words[0]), words[1].replace('/', '.') + "." + words[2]);
      }
    }
  }

  static void allocations(String type, int wanted) {
    if (!CountingTracker.used || CountingTracker.ALLOCATED.isEmpty()) return;
    checks++;
    Integer seen = CountingTracker.ALLOCATED.get(type);
    if (seen == null || seen != wanted) fail(type + " allocated " + seen + " times, not " + wanted);
  }

  static void forgetAllocations() {
    CountingTracker.ALLOCATED.clear();
  }

  /** Every method that counts itself must have been counted by the tracker as often. */
  static boolean done() {
    if (!CountingTracker.used) return true;
    Map<String, Integer> seen = new HashMap<String, Integer>();
    for (Map.Entry<Integer, String> entry : NAMES.entrySet()) {
      Integer old = seen.get(entry.getValue());
      seen.put(entry.getValue(), CountingTracker.COUNTS[entry.getKey()] + (old == null ? 0 : old));
    }
    for (Map.Entry<String, Integer> entry : CALLS.entrySet()) {
      checks++;
      Integer count = seen.get(entry.getKey());
      if (count == null || !count.equals(entry.getValue())) {
        fail(entry.getKey() + " counted " + count + " times, called " + entry.getValue());
      }
    }
    System.err.println(checks + " checks, " + failures + " failures, " + CountingTracker.unwinds + " unwinds, "
        + CountingTracker.constructed + " constructed");
    return failures == 0;
  }
}
