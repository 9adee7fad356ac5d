/**
 * Makes 55 exceptions of its own, throws 50 of them, in thrower(), and catches 30 in catcher() and 20 in outer(). Without the
 * operator + of strings, whose first use calls tens of thousands of methods. Makes 12 arrays in nested().
 */
public class Catches {
  static final class Own extends Exception {
    Own(String message) { super(message); }
  }

  static int caught;
  static int cleaned;

  static void thrower(int i) throws Own { throw new Own("number ".concat(Integer.toString(i))); }

  static void catcher(int i) {
    try {
      thrower(i);
    } catch (Own own) {
      caught++;
    }
  }

  static void cleaner(int i) throws Own {
    try {
      thrower(i);
    } finally {
      cleaned++;
    }
  }

  static void outer(int i) {
    try {
      cleaner(i);
    } catch (IllegalStateException | Own own) {
      caught++;
    }
  }

  static Own keeper(int i) { return new Own("kept ".concat(Integer.toString(i))); }

  static int nested() { return new Own[2][3][4].length + new Own[2][0][5].length; }

  public static void main(String[] arguments) {
    for (int i = 0; i < 30; i++) catcher(i);
    for (int i = 0; i < 20; i++) outer(i);
    for (int i = 0; i < 5; i++) keeper(i);
    nested();
    System.out.println("caught ".concat(Integer.toString(caught)).concat(", cleaned ").concat(Integer.toString(cleaned)));
  }
}
