import java.util.function.Supplier;

/** What Java 8 does not have: records, string concatenation by invokedynamic, hidden classes, nestmates. */
public class SitesModern {
  static final int N = 20000;
  static Object last;

  record Point(int x, int y) {}
  sealed interface Shape permits Square {}
  static final class Square implements Shape { private int side = 3; }

  static void records() { for (int i = 0; i < N; i++) last = new Point(i, i); }
  static void squares() { for (int i = 0; i < N; i++) last = new Square(); }
  static void strings() { for (int i = 0; i < N; i++) last = "number " + i; }
  static void suppliers() {
    for (int i = 0; i < N; i++) {
      int a = i;
      Supplier<Point> supplier = () -> new Point(a, a);
      last = supplier.get();
    }
  }

  public static void main(String[] arguments) {
    records();
    squares();
    strings();
    suppliers();
    System.out.println(last);
  }
}
