// Stacks that are hard to walk: at pushed words, in entry and exit code, in stubs, in native code, in the VM. Each argument is a part;
// the first is how many seconds of CPU time each takes. No method is overloaded.
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

public class Stacks {
  static volatile long sink;
  static int seed = 1;

  static int next() {
    return seed = seed * 1103515245 + 12345;
  }

  static void sort() {
    final String[] words = new String[20000];
    for (int i = 0; i < words.length; i++) words[i] = "word" + (next() >>> 8) % 100000;
    Arrays.sort(words);
    sink = words[7].length();
  }

  static class Thrown extends Exception {
    final int depth;

    Thrown(int depth) {
      this.depth = depth;
    }
  }

  static int throwing(int n) throws Thrown {
    if (n == 0) throw new Thrown(seed);
    return n > 8 ? passing(n - 1) : throwing(n - 1) + 1;
  }

  static int passing(int n) throws Thrown {
    try {
      return throwing(n);
    } finally {
      seed++;
    }
  }

  static void exceptions() {
    for (int i = 0; i < 20000; i++) {
      try {
        sink = passing(i % 20);
      } catch (Thrown thrown) {
        sink += thrown.depth;
      }
      try {
        final Object[] none = i % 3 == 0 ? null : new Object[i % 5];
        sink = none[i % 7] == null ? 1 : 2;
      } catch (RuntimeException expected) {
        sink++;
      }
    }
  }

  static void copies() {
    final byte[] bytes = new byte[9000], to = new byte[9000];
    final Object[] objects = new Object[500];
    final long[] longs = new long[700];
    for (int i = 0; i < 20000; i++) {
      final int size = (next() >>> 8) % 8000;
      System.arraycopy(bytes, i & 511, to, i & 255, size);
      System.arraycopy(to, 0, to, i & 63, size);
      sink = Arrays.copyOf(objects, size % 500).length + longs.clone().length;
      Arrays.fill(longs, i);
    }
  }

  static void crypto() throws Exception {
    final byte[] data = new byte[20000];
    final CRC32 crc = new CRC32();
    final Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
    cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(new byte[16], "AES"));
    final MessageDigest digest = MessageDigest.getInstance("SHA-256");
    final BigInteger modulus = BigInteger.ONE.shiftLeft(512).subtract(BigInteger.valueOf(569));
    BigInteger number = BigInteger.valueOf(next() | 1);
    for (int i = 0; i < 20; i++) {
      crc.update(data, 0, data.length);
      sink = cipher.doFinal(data).length + digest.digest(data).length + crc.getValue();
      number = number.modPow(BigInteger.valueOf(65537), modulus);
    }
    sink += number.bitCount();
  }

  static final Pattern PATTERN = Pattern.compile("([a-z]+)(\\d+)[,;]");

  static void strings() {
    final StringBuilder built = new StringBuilder();
    for (int i = 0; i < 300; i++) built.append("some words\u00e9 \u4e2d").append(next()).append(i % 2 == 0 ? ',' : ';');
    final String text = built.toString();
    final String latin = text.replace('\u4e2d', 'x');
    for (int i = 0; i < 50; i++) {
      sink = text.indexOf("nowhere" + i) + latin.indexOf("s nowhere");
      sink += text.getBytes(StandardCharsets.UTF_8).length + latin.toUpperCase().hashCode();
      sink += new String(latin.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8).length();
      final java.util.regex.Matcher matcher = PATTERN.matcher(text);
      while (matcher.find()) sink += matcher.end();
      sink += latin.equals(latin + i) ? 1 : latin.compareTo(text);
    }
  }

  static void natives() throws Exception {
    final byte[] data = new byte[30000], packed = new byte[40000];
    for (int i = 0; i < data.length; i++) data[i] = (byte) (next() >> 20);
    final Deflater deflater = new Deflater();
    deflater.setInput(data);
    deflater.finish();
    final int size = deflater.deflate(packed);
    deflater.end();
    final Inflater inflater = new Inflater();
    inflater.setInput(packed, 0, size);
    sink = inflater.inflate(data);
    inflater.end();
    double sum = 0;
    for (int i = 0; i < 20000; i++) {
      sum += Math.sin(i) + Math.pow(i, 1.7) + Math.exp(i * 1e-4) + (i * 1e3) % 17.0;
      if (i % 16 == 0) sum += System.nanoTime() % 3;
      if (i % 512 == 0) sum += new File("/no/such/file" + i % 3).length();
    }
    sink += (long) sum;
  }

  static final Map<Integer, byte[]> SHARED = new ConcurrentHashMap<>(), GUARDED = new HashMap<>();

  static synchronized void guarded(int key) {
    GUARDED.put(key & 1023, new byte[key & 511]);
  }

  static void locks() {
    for (int i = 0; i < 20000; i++) {
      final int key = next() >>> 8;
      guarded(key);
      SHARED.merge(key & 4095, new byte[64], (a, b) -> a);
      final ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write(key);
      sink = out.size();
    }
  }

  static void run(String part) throws Exception {
    switch (part) {
      case "sort": sort(); break;
      case "exceptions": exceptions(); break;
      case "copies": copies(); break;
      case "crypto": crypto(); break;
      case "strings": strings(); break;
      case "natives": natives(); break;
      case "locks": locks(); break;
      default: throw new IllegalArgumentException(part);
    }
  }

  public static void main(String[] args) throws Exception {
    final long most = (long) (Double.parseDouble(args[0]) * 1e9);
    final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    Thread beside = null;
    for (int i = 1; i < args.length; i++) {
      if (args[i].equals("locks")) {
        beside = new Thread(() -> {
          for (int k = 0; k < 1000; k++) locks();
        });
        beside.setDaemon(true);
        beside.start();
      }
      for (long end = clock.getCurrentThreadCpuTime() + most; clock.getCurrentThreadCpuTime() < end; ) run(args[i]);
    }
  }
}
