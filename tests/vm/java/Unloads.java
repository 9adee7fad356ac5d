import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.ref.WeakReference;

/**
 * Loads a class Unloads$Work in each of four loaders, keeps the last, and waits until the others have gone; with an argument
 * not before stdin ends.
 */
public class Unloads {
  public static class Work implements Runnable {
    Object made;

    @Override
    public void run() { made = new int[7]; }
  }

  static final class Loader extends ClassLoader {
    Loader() { super(Unloads.class.getClassLoader()); }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.equals("Unloads$Work")) return super.loadClass(name, resolve);
      try (InputStream in = Unloads.class.getResourceAsStream("/Unloads$Work.class")) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0; b = in.read()) bytes.write(b);
        return defineClass(name, bytes.toByteArray(), 0, bytes.size());
      } catch (java.io.IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  static Runnable work() throws Exception {
    Runnable made = (Runnable) new Loader().loadClass("Unloads$Work", true).getConstructor().newInstance();
    made.run();
    return made;
  }

  public static void main(String[] arguments) throws Exception {
    Runnable[] works = {work(), work(), work()};
    Runnable kept = work();
    if (arguments.length != 0) {
      System.out.println("ready " + Pid.own());
      while (System.in.read() >= 0) continue;
    }
    WeakReference<?>[] dropped = new WeakReference<?>[works.length];
    for (int i = 0; i < works.length; i++) dropped[i] = new WeakReference<>(works[i].getClass());
    works = null;
    for (WeakReference<?> reference : dropped) {
      while (reference.get() != null) System.gc();
    }
    kept.run();
    System.out.println("done");
  }
}
