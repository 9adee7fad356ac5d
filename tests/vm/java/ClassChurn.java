import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileReader;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.function.IntUnaryOperator;
import javax.management.ObjectName;

/**
 * Loads, uses and drops 100,000 classes with names of their own, Thrown_000000 to Thrown_099999, each in a loader of its
 * own, and prints the resident memory after a warm-up of a tenth and at the end:
 *
 *   RESIDENT 51200 52300 kB
 *
 * Arguments: classes (100000), loop rounds in each (20000), classes between two class histograms, for which the VM
 * collects garbage as for `jcmd GC.class_histogram` (0: none).
 */
public class ClassChurn {
  static long sink;
  public static Object kept;  // made by the class that is used

  static final class OneClass extends ClassLoader {
    OneClass() { super(ClassChurn.class.getClassLoader()); }
    Class<?> define(byte[] bytes) { return defineClass(null, bytes, 0, bytes.length); }
  }

  static byte[] template() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (InputStream in = ClassChurn.class.getResourceAsStream("Thrown_000000.class")) {
      byte[] block = new byte[4096];
      for (int n; (n = in.read(block)) > 0; ) out.write(block, 0, n);
    }
    return out.toByteArray();
  }

  // Puts the number wherever the template has six zeros after its name.
  static void rename(byte[] bytes, byte[] from, int number) {
    byte[] digits = String.format("%06d", number).getBytes(StandardCharsets.ISO_8859_1);
    search:
    for (int i = 0; i + from.length + 6 <= bytes.length; i++) {
      for (int k = 0; k < from.length; k++) {
        if (bytes[i + k] != from[k]) continue search;
      }
      System.arraycopy(digits, 0, bytes, i + from.length, 6);
    }
  }

  static Constructor<?> open(Constructor<?> constructor) {
    constructor.setAccessible(true);
    return constructor;
  }

  static long resident() throws Exception {
    try (BufferedReader in = new BufferedReader(new FileReader("/proc/self/status"))) {
      for (String line; (line = in.readLine()) != null; ) {
        if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    return 0;
  }

  static void histogram() throws Exception {
    ManagementFactory.getPlatformMBeanServer().invoke(
        new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
        new Object[] {new String[0]}, new String[] {String[].class.getName()});
  }

  public static void main(String[] args) throws Exception {
    int classes = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 20_000;
    int pause = args.length > 2 ? Integer.parseInt(args[2]) : 0;
    byte[] name = "Thrown_".getBytes(StandardCharsets.ISO_8859_1);
    byte[] template = template();
    long before = 0;
    for (int i = 0; i < classes; i++) {
      byte[] bytes = template.clone();
      rename(bytes, name, i);
      IntUnaryOperator thrown =
          (IntUnaryOperator) open(new OneClass().define(bytes).getDeclaredConstructor()).newInstance();
      sink += thrown.applyAsInt(rounds);
      if (pause != 0 && i % pause == 0) histogram();
      if (i == classes / 10) {
        System.gc();
        before = resident();
      }
    }
    System.gc();
    System.out.println("RESIDENT " + before + " " + resident() + " kB");
  }
}

class Thrown_000000 implements IntUnaryOperator {
  @Override
  public int applyAsInt(int rounds) {
    ClassChurn.kept = new Object();
    int x = rounds;
    for (int i = 0; i < rounds; i++) x = x * 31 + i;
    return x;
  }
}
