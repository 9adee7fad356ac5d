import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Random;

/**
 * StackIo CALLS: writes a byte to one of eight files, at the end of a random number of calls of zero() and one(). The three innermost are
 * the bits of the file's number, the lowest first. Prints "stack;FILE;CALLS".
 */
public final class StackIo {
  private static final int FILES = 8;
  private static final FileOutputStream[] files = new FileOutputStream[FILES];

  private static void zero(int left, int bits) throws IOException {
    if (left == 0) files[bits % FILES].write(1);
    else if ((bits >> (left - 1) & 1) == 0) zero(left - 1, bits);
    else one(left - 1, bits);
  }

  private static void one(int left, int bits) throws IOException {
    if (left == 0) files[bits % FILES].write(1);
    else if ((bits >> (left - 1) & 1) == 0) zero(left - 1, bits);
    else one(left - 1, bits);
  }

  public static void main(String[] args) throws IOException {
    int[] calls = new int[FILES];
    for (int i = 0; i < FILES; i++) files[i] = new FileOutputStream("stack" + i + ".dat");
    Random random = new Random(1);
    for (int i = Integer.parseInt(args[0]); i > 0; i--) {
      int bits = random.nextInt(1 << 20);
      zero(3 + random.nextInt(15), bits);
      calls[bits % FILES]++;
    }
    for (int i = 0; i < FILES; i++) System.out.println("stack;stack" + i + ".dat;" + calls[i]);
  }
}
