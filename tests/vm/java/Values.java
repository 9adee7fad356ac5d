/** Prints what its class Inside is called with and returns, a line each: tests/plugins/abi/values.c. */
public class Values {
  static StringBuilder lines = new StringBuilder();

  static String name(Object object) {
    return object == null ? "-" : object instanceof String ? (String) object : "@";
  }

  static void called(Object self, Object first, Object last, long firstValue, long lastValue) {
    lines.append("called ").append(name(self)).append(' ').append(name(first)).append(' ').append(name(last))
        .append(' ').append(firstValue).append(' ').append(lastValue).append('\n');
  }

  static void returned(int call, Object result, long value) {
    lines.append("returned ").append(call).append(' ').append(name(result)).append(' ').append(value).append('\n');
  }

  static class Base {
    Base(Object other) {}
  }

  static class Inside extends Base {
    Inside(String text, byte number) {
      super(text);
      called(null, text, text, number, number);
      if (number < 0) throw new IllegalArgumentException();
      returned(1, this, 0);
    }

    static synchronized long sum(boolean flag, double skipped, long number, String first, int[] middle, String last, char letter) {
      called(null, first, last, flag ? 1 : 0, letter);
      long sum = 0;
      for (int i = 0; i < middle.length; i++) sum += middle[i];
      returned(2, null, sum + number);
      return sum + number;
    }

    String join(Object... parts) {
      called(this, parts, parts, 0, 0);
      String text = "";
      for (Object part : parts) text += part;
      returned(1, text, 0);
      return text;
    }

    double half(float number) {
      called(this, null, null, 0, 0);
      returned(1, null, 0);
      return number / 2;
    }

    boolean fails(Object first, short number, Object last) {
      called(this, first, last, number, number);
      if (last == null) {
        lines.append("left 1\n");
        throw new IllegalStateException();
      }
      returned(2, null, 1);
      return true;
    }
  }

  /** round: of many, so that the methods are compiled. */
  static void run(int round) {
    Inside inside = new Inside("one", (byte) (round % 100));
    Inside.sum(round % 2 == 0, 0.5, -1L << 40, "a", new int[] {round, 2}, "b", 'c');
    inside.join("x", "y");
    inside.half(3);
    inside.fails("f", (short) -round, "g");
    try {
      inside.fails(null, (short) round, null);
    } catch (IllegalStateException e) {
      // as it should
    }
    try {
      new Inside("two", (byte) -1);
    } catch (IllegalArgumentException e) {
      lines.append("left 1\n");
    }
  }

  public static void main(String[] args) throws Exception {
    int rounds = Integer.parseInt(args[0]);
    if (args.length > 1) {
      run(0);  // loaded, and without probes
      lines.setLength(0);
      System.out.println("ready " + Pid.own());
      System.in.read();
    }
    for (int i = 0; i < rounds; i++) run(i);
    System.out.print(lines);
  }
}
