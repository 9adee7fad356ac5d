import java.util.concurrent.Callable;

/** What is hard for a rewriter: exceptions, constructors, monitors, switches, recursion. */
public class Case {
  static void run() throws Exception {
    Expect.called();
    System.out.println("fib " + fib(15));
    System.out.println("leaf " + leaves());
    exceptions();
    constructors();
    monitors();
    switches();
    locals();
    allocations();
    System.out.println("overflow " + overflows());
    other();
    new Values("x", 7, false).run();
    System.out.println("long " + CaseLong.run(30));
    System.out.println("wide " + CaseWide.run());
    Expect.here();
  }

  static int fib(int n) {
    Expect.called();
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  static int add(int a, int b) {
    return a + b;
  }

  static long pick(boolean first, long a, double b) {
    if (first) return a;
    return (long) b;
  }

  static long leaves() {
    Expect.called();
    long sum = 0;
    for (int i = 0; i < 10; i++) {
      sum = add((int) sum, i) + pick(i % 2 == 0, i, i * 2.5);
      Expect.times("Case.add", 1);
      Expect.times("Case.pick", 1);
    }
    return sum;
  }

  static void thrower(int depth) {
    Expect.called();
    if (depth == 0) throw new IllegalStateException("deep");
    thrower(depth - 1);
  }

  static int finallyReturns(int mode) {
    Expect.called();
    try {
      if (mode == 0) return 1;
      if (mode == 1) thrower(3);
      return 2;
    } catch (IllegalStateException e) {
      Expect.here();
      return 3;
    } finally {
      Expect.here();
      touch();
    }
  }

  @SuppressWarnings("finally")
  static int finallySwallows() {
    Expect.called();
    for (int i = 0; ; i++) {
      try {
        thrower(i);
      } finally {
        Expect.here();
        if (i < 3) continue;
        return i;
      }
    }
  }

  static void touch() {
    Expect.called();
  }

  static void nested() {
    Expect.called();
    try {
      try {
        thrower(2);
      } catch (IllegalStateException e) {
        Expect.here();
        try {
          touch();
          throw new RuntimeException(e);
        } finally {
          Expect.here();
        }
      }
    } catch (RuntimeException e) {
      Expect.here();
      System.out.println("nested " + e.getCause().getMessage());
    }
    Expect.here();
  }

  static class Resource implements AutoCloseable {
    Resource() {
      Expect.called();
    }

    public void close() {
      Expect.called();
    }
  }

  static void resources() {
    Expect.called();
    try (Resource a = new Resource(); Resource b = new Resource()) {
      Expect.here();
      thrower(1);
    } catch (IllegalStateException e) {
      Expect.here();
    }
    Expect.here();
  }

  static void implicit(int[] array, Object object) {
    Expect.called();
    int caught = 0;
    try {
      array[5] = 1;
    } catch (ArrayIndexOutOfBoundsException e) {
      caught++;
    }
    try {
      caught += 1 / (array.length - array.length);
    } catch (ArithmeticException e) {
      caught++;
    }
    try {
      caught += ((String) object).length();
    } catch (ClassCastException e) {
      caught++;
      Expect.here();
    }
    System.out.println("implicit " + caught);
  }

  static void exceptions() {
    Expect.called();
    for (int mode = 0; mode < 3; mode++) System.out.println("finally " + finallyReturns(mode));
    System.out.println("swallowed " + finallySwallows());
    nested();
    resources();
    implicit(new int[2], Integer.valueOf(1));
    Expect.here();
  }

  static class Base {
    Base(int value) {
      Expect.called();
      if (value < 0) throw new IllegalArgumentException("negative");
    }
  }

  static class Derived extends Base {
    final int twice;

    Derived(int value) {
      super(check(value) ? value : add(value, 1) - 1);
      Expect.here();
      twice = value * 2;
      if (value > 100) throw new IllegalStateException("large");
    }

    Derived(String text) {
      this(text.isEmpty() ? new Integer(7).intValue() : Integer.parseInt(text));
      Expect.here();
    }

    static boolean check(int value) {
      Expect.called();
      if (value == 50) throw new UnsupportedOperationException("fifty");
      return value > 0;
    }
  }

  static class Fields {
    int a = init(1);
    int b;

    {
      b = init(2);
    }

    static int init(int value) {
      Expect.called();
      return value;
    }
  }

  static void constructors() {
    Expect.called();
    String[] values = {"1", "-1", "101", "50", "", "x"};
    for (String value : values) {
      try {
        System.out.println("twice " + new Derived(value).twice);
      } catch (RuntimeException e) {
        Expect.here();
        System.out.println("constructor " + e.getClass().getName());
      }
      Expect.here();
      touch();
    }
    // Entered before super() or this(), which may fail: with a string 6 times, with a number 5 times; "-1" adds.
    Expect.times("Case$Derived.<init>", 11);
    Expect.times("Case.add", 1);
    Fields fields = new Fields();
    System.out.println("fields " + fields.a + fields.b);
  }

  static synchronized int locked(int depth) {
    Expect.called();
    return depth == 0 ? 0 : 1 + locked(depth - 1);
  }

  static int locks(Object a, Object b, boolean fail) {
    Expect.called();
    synchronized (a) {
      synchronized (b) {
        if (fail) thrower(1);
        return 5;
      }
    }
  }

  static void monitors() throws Exception {
    Expect.called();
    System.out.println("locked " + locked(5));
    final Object a = new Object();
    final Object b = new Object();
    for (int i = 0; i < 4; i++) {
      try {
        System.out.println("locks " + locks(a, b, i % 2 == 1));
      } catch (IllegalStateException e) {
        Expect.here();
        System.out.println("released " + !Thread.holdsLock(a) + !Thread.holdsLock(b));
      }
    }
    Thread other = new Thread("other") {
      @Override
      public void run() {
        Expect.called();
        System.out.println("thread " + locks(a, b, false) + locked(2));
      }
    };
    other.start();
    other.join();
    Expect.here();
  }

  static int table(int i) {
    Expect.called();
    switch (i) {
      case 0: return 10;
      case 1: touch();
      case 2: return 12;
      case 5: throw new IllegalStateException("five");
      default: return -1;
    }
  }

  static String lookup(String text) {
    Expect.called();
    switch (text) {
      case "a": return "A";
      case "AaAa":
      case "BBBB": return "same hash";
      default:
        int[] made = new int[text.length()];
        switch (made.length) {
          case 1000: return "thousand";
          case -5: return "minus";
          case 3: return "three";
          default: return "none";
        }
    }
  }

  static void switches() {
    Expect.called();
    int sum = 0;
    for (int i = -1; i < 8; i++) {
      try {
        sum += table(i);
      } catch (IllegalStateException e) {
        Expect.here();
      }
    }
    System.out.println("switch " + sum + lookup("a") + lookup("BBBB") + lookup("abc") + lookup("x"));
  }

  static void locals() {
    Expect.called();
    long a = 1;
    double b = 2;
    Object c = "c";
    for (int i = 0; i < 3; i++) {
      float d = i;
      Object e = i == 1 ? c : null;
      if (e != null) {
        long f = a + i;
        touch();
        a += f;
      } else {
        String g = c.toString();
        b += d + g.length();
      }
      Expect.here();
    }
    System.out.println("locals " + a + " " + b);
  }

  static class Copied implements Cloneable {
    int[] data = {1, 2};

    Copied copy() throws CloneNotSupportedException {
      Expect.called();
      return (Copied) super.clone();
    }
  }

  static void allocations() throws Exception {
    Expect.called();
    Copied copied = new Copied();
    Expect.forgetAllocations();
    int[] a = new int[3];
    int[] b = a.clone();
    long[][] c = new long[2][3];
    Object d = java.lang.reflect.Array.newInstance(short.class, 4);
    String[] e = java.util.Arrays.copyOf(new Object[] {"x"}, 2, String[].class);
    Copied f = copied.copy();
    Object[] g = {a, b, c, d, e, f};
    Expect.allocations("[I", 2);
    Expect.allocations("[J", 2);
    Expect.allocations("[[J", 1);
    Expect.allocations("[S", 1);
    Expect.allocations("[Ljava.lang.String;", 1);
    Expect.allocations("[Ljava.lang.Object;", 2);
    Expect.allocations("Case$Copied", 1);
    System.out.println("allocations " + g.length + b.length + c[1].length + e.length + f.data.length);
  }

  private static int depth;

  /** Overflows with a monitor held at each level: a probe in a handler must not loop. */
  static void deep(Object lock) {
    depth++;
    synchronized (lock) {
      try {
        deep(lock);
      } finally {
        depth--;
      }
    }
  }

  static String overflows() {
    Expect.called();
    Object lock = new Object();
    String result = "none";
    try {
      deep(lock);
    } catch (StackOverflowError e) {
      Expect.here();
      result = "caught " + Thread.holdsLock(lock);
    }
    Expect.here();
    return result;
  }

  interface Greeter {
    String greet(String name);

    default String twice(String name) {
      Expect.called();
      return greet(name) + greet(name);
    }

    static Greeter polite() {
      Expect.called();
      return name -> {
        Expect.called();
        return "dear " + name + ' ';
      };
    }
  }

  static class Lazy {
    static final int VALUE = compute();

    static int compute() {
      Expect.called();
      return 42;
    }
  }

  static class Broken {
    static {
      if (Case.depth < 1000000) throw new IllegalStateException("broken");
    }
  }

  static void other() throws Exception {
    Expect.called();
    System.out.println(Greeter.polite().twice("x"));
    System.out.println("lazy " + Lazy.VALUE);
    try {
      new Broken();
    } catch (ExceptionInInitializerError e) {
      Expect.here();
    }
    Callable<String> call = Case::called;
    System.out.println(call.call());
    try {
      Case.class.getDeclaredMethod("thrower", int.class).invoke(null, 2);
    } catch (java.lang.reflect.InvocationTargetException e) {
      Expect.here();
      System.out.println(e.getCause().getMessage());
    }
    assertions(3);
  }

  /** Methods whose arguments and results are checked. */
  static class Values {
    final String text = "text";
    final Object made;

    Values(String first, long number, boolean flag) {
      Expect.called();
      Expect.passed(null, first, first, number, 0);
      made = first;
    }

    void run() {
      Expect.called();
      Expect.passed(this, null, null, 0, 0);
      Values other = new Values(text, 1L << 40, false);
      Expect.returned(other, 0);
      Object none = nothing();
      Expect.returned(null, 0);
      int small = integer(true, 1.5, (byte) -2);
      Expect.returned(null, -2);
      long[] array = {5};
      Object same = array(2.5, array, 3, 4.5f, null);
      Expect.returned(array, 0);
      System.out.println("values " + none + small + (same == array) + (other.made == text));
      for (int i = 0; i < 3; i++) {
        long number = number(-i, "a", array, text, 1L << i);
        Expect.returned(null, i == 0 ? 0 : -1L << 40);
        double real = real(i, 1.25, 'c');
        Expect.returned(null, 0);
        float single = single(text, (short) -3);
        Expect.returned(null, 0);
        boolean flag = flag(this);
        Expect.returned(null, 1);
        System.out.println("values " + number + real + single + flag);
      }
      char letter = letter((Object[]) null);
      Expect.returned(null, 'x');
      try {
        fails("f", letter);
      } catch (IllegalStateException e) {
        Expect.passed(null, "f", "f", 'x', 'x');
      }
    }

    Object nothing() {
      Expect.called();
      Expect.passed(this, null, null, 0, 0);
      return null;
    }

    static int integer(boolean flag, double number, byte last) {
      Expect.called();
      Expect.passed(null, null, null, 1, last);
      return last;
    }

    synchronized long[] array(double number, long[] array, int value, float single, Object last) {
      Expect.called();
      Expect.passed(this, array, last, 3, 3);
      return array;
    }

    static synchronized long number(int first, String text, long[] array, Object last, long number) {
      Expect.called();
      Expect.passed(null, "a", last, first, 1L << -first);
      if (first == 0) return 0;
      try {
        return -1L << 40;
      } finally {
        touch();
        Expect.passed(null, null, null, 0, 0);
      }
    }

    static double real(double first, double second, char letter) {
      Expect.called();
      Expect.passed(null, null, null, 'c', 'c');
      return first + second;
    }

    static float single(Object object, short number) {
      Expect.called();
      Expect.passed(null, object, object, -3, -3);
      return number;
    }

    boolean flag(Values other) {
      Expect.called();
      Expect.passed(this, other, other, 0, 0);
      return this == other;
    }

    static char letter(Object... texts) {
      Expect.called();
      Expect.passed(null, null, null, 0, 0);
      return 'x';
    }

    static int fails(String text, int value) {
      Expect.called();
      Expect.passed(null, "f", "f", 'x', 'x');
      throw new IllegalStateException(text);
    }
  }

  static String called() {
    Expect.called();
    return "called";
  }

  static void assertions(int value) {
    Expect.called();
    int i = 0;
    outer:
    while (true) {
      do {
        if (++i > value) break outer;
        for (; ; ) {
          touch();
          continue outer;
        }
      } while (i < 10);
    }
    System.out.println("loops " + i);
  }
}
