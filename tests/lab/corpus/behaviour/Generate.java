import java.io.PrintWriter;

/** Writes CaseLong.java and CaseWide.java: code whose jumps get too long when it grows, and more than 255 locals. */
public final class Generate {
  public static void main(String[] args) throws Exception {
    try (PrintWriter out = new PrintWriter(args[0] + "/CaseLong.java", "UTF-8")) {
      out.println("public class CaseLong {");
      // Each of these is 5 bytes, and 9 with its probe: under 32 KiB before, above it after.
      method(out, "loop", 3100, "for (int i = 0; i < n; i++) { if (i == 3) continue; if (i % 2 == 0) {", "if (i == 5) continue;", "} else sum--; }");
      method(out, "choose", 3100, "if (n > 2) { if (n == 77) return -5;", "if (n == 78) return n;", "} else if (n < -3) { sum = 4; }");
      method(out, "guard", 3000, "try { while (n-- > 0) { if (n == 4) { sum += 2; continue; } if (n % 3 != 0) {",
          "if (n == 1) throw new IllegalStateException();", "} } Case.touch(); } catch (IllegalStateException e) { Expect.here(); sum += 1000; }");
      out.println("  static String run(int n) { Expect.called(); return loop(n) + \" \" + choose(n) + \" \" + choose(1) + \" \" + guard(n); }");
      out.println("}");
    }
    try (PrintWriter out = new PrintWriter(args[0] + "/CaseWide.java", "UTF-8")) {
      out.println("public class CaseWide {");
      out.print("  static long many(");
      for (int i = 0; i < 120; i++) out.print("long a" + i + ", ");
      out.println("int last) {\n    Expect.called();\n    long sum = last;");
      for (int i = 0; i < 30; i++) out.println("    double d" + i + " = sum + " + i + "; if (d" + i + " < 0) { sum -= 1; Expect.here(); } sum += a" + i + " + (long) d" + i + ";");
      out.println("    try { Case.thrower(1); } catch (IllegalStateException e) { Expect.here(); sum++; }\n    return sum;\n  }");
      out.print("  static long run() { Expect.called(); return many(");
      for (int i = 0; i < 120; i++) out.print(i + "L, ");
      out.println("9); }\n}");
    }
  }

  private static void method(PrintWriter out, String name, int count, String begin, String middle, String end) {
    out.println("  static int " + name + "(int n) {\n    Expect.called();\n    int sum = 0; int[] x = null; Object y; long z = 1;\n    " + begin);
    for (int i = 0; i < 2 * count; i++) {
      out.println("      x = new int[2];");
      if (i % 1000 == 500) out.println("      " + middle);
    }
    out.println("      sum += x.length;\n    " + end + "\n    return sum;\n  }");
  }
}
