/**
 * Throws and catches exceptions, in numbers that test_exceptions.py knows, and says `done`. `serve`: once for each
 * line of stdin; `threads <threads> <times>`, `reused <times>`: many of one kind.
 */
public class Throws {
  static class Own extends Exception {
    Own() { super("secret text"); }
  }

  /** As frameworks have them: without a stack of its own, and one object for all. */
  static final class Stackless extends RuntimeException {
    static final Stackless ONLY = make();

    private Stackless() { super("secret text", null, false, false); }

    static Stackless make() { return new Stackless(); }
  }

  static int caught;
  static volatile Object[] none;

  static void thrower() throws Own { throw new Own(); }

  static void catcher() {
    try {
      thrower();
    } catch (Own own) {
      caught++;
    }
  }

  /** Caught twice, and made once. */
  static void rethrower() throws Own {
    try {
      thrower();
    } catch (Own own) {
      caught++;
      throw own;
    } finally {
      caught += 0;
    }
  }

  static void outer() {
    try {
      rethrower();
    } catch (Own own) {
      caught++;
    }
  }

  static void stackless() {
    try {
      throw Stackless.ONLY;
    } catch (Stackless own) {
      caught++;
    }
  }

  static void ofVm() {
    try {
      none[0] = null;
    } catch (NullPointerException ofVm) {
      caught++;
    }
  }

  static int outOfBounds(int[] array) {
    try {
      return array[array.length];
    } catch (ArrayIndexOutOfBoundsException ofVm) {
      return 0;
    }
  }

  static Own keeper() { return new Own(); }

  static void dies() { throw new IllegalStateException("secret text"); }

  static void threads(int count, int times) throws InterruptedException {
    Thread[] threads = new Thread[count];
    for (int i = 0; i < count; i++) {
      threads[i] = new Thread(() -> {
        for (int j = 0; j < times; j++) catcher();
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
  }

  static void round() throws InterruptedException {
    for (int i = 0; i < 3000; i++) catcher();
    for (int i = 0; i < 200; i++) outer();
    for (int i = 0; i < 100; i++) stackless();
    for (int i = 0; i < 50; i++) ofVm();
    for (int i = 0; i < 40; i++) outOfBounds(new int[1]);
    for (int i = 0; i < 5; i++) keeper();
    Thread thread = new Thread(Throws::dies);
    thread.setUncaughtExceptionHandler((ended, ofIt) -> caught++);
    thread.start();
    thread.join();
  }

  public static void main(String[] arguments) throws Exception {
    String mode = arguments.length > 0 ? arguments[0] : "";
    if (mode.equals("serve")) {
      System.out.println("ready " + Pid.own());
      while (System.in.read() >= 0) {
        round();
        System.out.println("did");
      }
      System.out.println("ended");
      return;
    }
    if (mode.equals("threads")) {
      threads(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
    } else if (mode.equals("reused")) {
      for (int i = Integer.parseInt(arguments[1]); i > 0; i--) ofVm();
    } else {
      round();
    }
    System.out.println("done");
  }
}
