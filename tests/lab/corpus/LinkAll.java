import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintStream;

/** Loads and links (so verifies) each class named in a file, and writes what came of each. Initialises none. */
public final class LinkAll {
  public static void main(String[] args) throws Exception {
    ClassLoader loader = LinkAll.class.getClassLoader();
    int count = 0;
    try (BufferedReader names = new BufferedReader(new FileReader(args[0]));
        PrintStream out = new PrintStream(args[1], "UTF-8")) {
      for (String name = names.readLine(); name != null; name = names.readLine()) {
        count++;
        out.println(name + " " + link(name, loader));
      }
    }
    System.out.println(count + " classes");
  }

  private static String link(String name, ClassLoader loader) {
    try {
      // The reflection data of a class need it linked; an error of a missing class comes later than that of the verifier.
      Class.forName(name, false, loader).getDeclaredMethods();
      return "ok";
    } catch (Throwable failure) {
      String text = String.valueOf(failure.getMessage());
      int line = text.indexOf('\n');
      String brief = failure.getClass().getName();
      boolean told = failure instanceof VerifyError || failure instanceof ClassFormatError;
      return told ? brief + " " + (line < 0 ? text : text.substring(0, line) + text.substring(line).replace('\n', '|')) : brief;
    }
  }
}
