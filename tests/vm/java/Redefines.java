import java.lang.instrument.Instrumentation;

/**
 * A Java agent and its program: each method of Worker makes one object a round, and then the class is redefined, so that
 * memory of its old methods is used for others.
 *
 * Arguments: rounds (1000).
 */
public class Redefines {
  static Instrumentation instrumentation;
  static Object kept;

  static final class Worker {
    static int x;

    static void first() { kept = new Object(); }
    static void second() { x++; kept = new Object(); }
    static void third() { x++; x++; x++; kept = new Object(); }
    static void fourth() { kept = new Object(); }
    static void fifth() { x++; kept = new Object(); }
    static void sixth() { x++; x++; kept = new Object(); }
    static void seventh() { x++; x++; x++; x++; kept = new Object(); }
    static void eighth() { kept = new Object(); }
  }

  public static void premain(String arguments, Instrumentation given) { instrumentation = given; }

  public static void main(String[] args) throws Exception {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
    for (int i = 0; i < rounds; i++) {
      Worker.first();
      Worker.second();
      Worker.third();
      Worker.fourth();
      Worker.fifth();
      Worker.sixth();
      Worker.seventh();
      Worker.eighth();
      instrumentation.retransformClasses(Worker.class);
      if (i % 3 == 0) System.gc();
    }
    System.out.println(Worker.x);
  }
}
