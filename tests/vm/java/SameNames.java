import java.io.ByteArrayOutputStream;
import java.io.InputStream;

/** Two loaders have a class SameNames$Work each, whose step() is called 30 times in the one and 70 times in the other. */
public class SameNames {
  public interface Steps { int run(int times); }

  public static class Work implements Steps {
    private int sum;
    int step(int i) {
      for (int k = 0; k < 3; k++) sum += i;
      return sum;
    }
    @Override
    public int run(int times) {
      int last = 0;
      for (int i = 0; i < times; i++) last = step(i);
      return last;
    }
  }

  static final class Loader extends ClassLoader {
    Loader() { super(SameNames.class.getClassLoader()); }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.equals("SameNames$Work")) return super.loadClass(name, resolve);
      try (InputStream in = SameNames.class.getResourceAsStream("/SameNames$Work.class")) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0; b = in.read()) bytes.write(b);
        return defineClass(name, bytes.toByteArray(), 0, bytes.size());
      } catch (java.io.IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    for (int times : new int[] {30, 70}) {
      Steps work = (Steps) new Loader().loadClass("SameNames$Work", true).getConstructor().newInstance();
      if (work.run(times) != 3 * times * (times - 1) / 2) throw new IllegalStateException();
    }
    System.out.println("done");
  }
}
