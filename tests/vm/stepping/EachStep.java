// Code whose instructions are stepped through: <library> <steps> <rounds>. No method is overloaded, and each is called from one place.
import java.util.Arrays;

public class EachStep {
  static native void begin(long most);
  static native void end();
  static native void write();

  interface Shape {
    int area(int x);
  }
  static class Square implements Shape {
    public int area(int x) { return x * x; }
  }
  static class Line implements Shape {
    public int area(int x) { return x + 1; }
  }
  static class Circle implements Shape {
    public int area(int x) { return 3 * x; }
  }
  abstract static class Animal {
    abstract int legs(int x);
  }
  static class Dog extends Animal {
    int legs(int x) { return 4 + x; }
  }
  static class Bird extends Animal {
    int legs(int x) { return 2 + x; }
  }
  static class Fish extends Animal {
    int legs(int x) { return x; }
  }
  static final Shape[] SHAPES = {new Square(), new Line(), new Circle()};
  static final Animal[] ANIMALS = {new Dog(), new Bird(), new Fish()};
  static final String[] WORDS = {"first of some words", "first of some words", "first of other words", "second\u4e2d"};
  static final byte[] FROM = new byte[700], TO = new byte[700];
  static final RuntimeException THROWN = new IllegalStateException();
  static final Object LOCK = new Object();
  static int sink;

  static int leaf(int x) { return x * 31 + 7; }
  static int inner(int x) { return leaf(x) + (x & 3); }
  static int middle(int x, long y, double z) { return inner(x) + (int) y + (int) z; }
  static int many(int a, int b, int c, int d, int e, int f, int g, int h, long i, long j, double k, Object l) {
    return a + b + c + d + e + f + g + h + (int) (i + j + k) + l.hashCode();
  }
  static int wide(int x) {
    int a = x, b = x + 1, c = x + 2, d = x + 3, e = x + 4, f = x + 5;
    final long i = x * 7L, j = x * 9L;
    final double k = x * 0.5;
    final int sum = many(a, b, c, d, e, f, a ^ b, c ^ d, i, j, k, LOCK);
    return sum + a + b + c + d + e + f + (int) i + (int) j + (int) k;
  }
  static int shapes(int x) {
    int sum = 0;
    for (final Shape shape : SHAPES) sum += shape.area(x);
    return sum;
  }
  static int animals(int x) {
    int sum = 0;
    for (final Animal animal : ANIMALS) sum += animal.legs(x);
    return sum;
  }
  static int thrower(int x) {
    if ((x & 1) == 0) throw THROWN;
    return x;
  }
  static int catcher(int x) {
    try {
      return thrower(x);
    } catch (IllegalStateException expected) {
      return -x;
    }
  }
  static synchronized int locked(int x) { return x + sink; }
  static int guarded(int x) {
    synchronized (LOCK) {
      return locked(x) + 1;
    }
  }
  static int copied(int x) {
    System.arraycopy(FROM, x & 31, TO, x & 15, 300 + x % 300);
    final Object[] some = Arrays.copyOf(WORDS, 4);
    Arrays.fill(TO, (byte) x);
    return some.length + TO[x % 700];
  }
  static int words(int x) {
    final String a = WORDS[x & 3], b = WORDS[x + 1 & 3];
    int sum = a.compareTo(b) + a.indexOf("words") + a.indexOf('m');
    if (a.equals(b)) sum++;
    return sum + a.substring(x & 3).hashCode();
  }
  static int numbers(int x) {
    return (int) (Math.sin(x) + Math.pow(x, 1.5) + Math.exp(x * 0.01) + x % 7.5) + (int) (System.nanoTime() >> 60);
  }
  static int objects(int x) {
    final int[] made = new int[x & 63];
    final Object other = (x & 1) == 0 ? made : WORDS[x & 3];
    int sum = other instanceof Comparable ? 1 : 2;
    final Object[] several = {made, other, new StringBuilder().append(x).append("items").toString()};
    for (final Object one : several) sum += System.identityHashCode(one) & 1;
    return sum + made.length;
  }

  static int round(int x) {
    return middle(x, x + 1L, x * 2.0) + wide(x) + shapes(x) + animals(x) + catcher(x) + guarded(x) + copied(x) + words(x) + numbers(x) + objects(x);
  }

  public static void main(String[] args) {
    System.load(args[0]);
    final long most = Long.parseLong(args[1]);
    final int rounds = Integer.parseInt(args[2]);
    for (int i = 0; i < 20000 && rounds > 0; i++) sink += round(i & 255);
    for (int i = 0; i < Math.max(rounds, 3); i++) {
      begin(most);
      sink += round(i);
      end();
    }
    write();
    System.out.println("DONE");
  }
}
