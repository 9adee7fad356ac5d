import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.concurrent.Callable;

/** Places THREADS ROUNDS: threads make objects at the same places, of several classes and sizes at some; then it says how many. */
public class Places {
  static class Cell { int a; }
  static class Wide extends Cell { long b, c; }
  static class Wider extends Wide { Object d; }
  static class Copy implements Cloneable {
    Copy copy() throws CloneNotSupportedException { return (Copy) super.clone(); }
  }
  static class Copies extends Copy { long a, b; }
  static class Forks {
    Forks(int a) { super(); }
    Forks(long a) { super(); }
    Forks() { this(1); }
  }
  static class Broken { Broken() { throw new IllegalStateException(); } }

  static final Class<?>[] KINDS = {int.class, byte.class, long.class, boolean.class, String.class, Cell.class};
  static volatile Object sink;

  static int deep(int depth) {
    try {
      return new Cell().a + deep(depth + 1);
    } catch (StackOverflowError e) {
      return 0;
    }
  }

  static Cell cell(int i) { return i % 3 == 0 ? new Wider() : i % 3 == 1 ? new Wide() : new Cell(); }
  static Object forks(int i) { return i % 3 == 0 ? new Forks(i) : i % 3 == 1 ? new Forks((long) i) : new Forks(); }

  static void round(int i, Copy[] copies, Constructor<Cell> constructor) throws Exception {
    sink = cell(i);
    sink = forks(i);
    sink = new Object(); sink = new Object();
    sink = new int[i % 50];
    sink = new Cell[i % 7];
    sink = new long[i % 3][i % 4];
    sink = new byte[i % 3][2][];
    sink = Array.newInstance(KINDS[i % KINDS.length], i % 9);
    sink = copies[i % 2].copy();
    sink = i % 2 == 0 ? new short[i % 11].clone() : new char[i % 13].clone();
    sink = constructor.newInstance();
    Callable<Object> made = () -> new Cell();
    sink = made.call();
    sink = new Callable<Object>() { @Override public Object call() { return null; } };
    try {
      sink = new Broken();
    } catch (IllegalStateException e) {
      sink = e;
    }
    if (i % 1000 == 0) sink = new int[100000];
  }

  public static void main(String[] arguments) throws Exception {
    Thread[] threads = new Thread[Integer.parseInt(arguments[0])];
    int rounds = Integer.parseInt(arguments[1]);
    for (int t = 0; t < threads.length; t++) {
      threads[t] = new Thread(() -> {
        try {
          Copy[] copies = {new Copy(), new Copies()};
          Constructor<Cell> constructor = Cell.class.getDeclaredConstructor();
          for (int i = 0; i < rounds; i++) round(i, copies, constructor);
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      });
      threads[t].start();
    }
    for (Thread thread : threads) thread.join();
    if (arguments.length > 2) {
      for (int i = 0; i < 20; i++) deep(0);
    }
    System.out.println(threads.length * rounds + " rounds");
  }
}
