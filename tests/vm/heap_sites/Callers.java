import java.io.IOException;

/** Prints "ready <pid>", then for each line read makes objects at stacks that differ in their third frame only, and prints "did". */
public class Callers {
  static class Item {
    int value;
  }

  static Object kept;

  static void make() {
    kept = new Item();
  }

  static void first() {
    make();
  }

  static void second() {
    make();
  }

  public static void main(String[] arguments) throws IOException {
    System.out.println("ready " + Pid.own());
    while (System.in.read() >= 0) {
      for (int i = 0; i < 20000; i++) {
        first();
        if (i % 2 == 0) second();
      }
      System.out.println("did");
    }
    System.out.println("ended");
  }
}
