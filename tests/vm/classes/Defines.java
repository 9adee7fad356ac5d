import groovy.lang.GroovyClassLoader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/** Makes classes in ways and numbers that test_classes.py knows, keeps 20 of 50 loaders, and says `done`. */
public class Defines {
  static final class Made {}

  interface A {}

  interface B {}

  interface C {}

  static final class Loader extends ClassLoader {
    Loader() { super(null); }

    Class<?> define(byte[] bytes) { return defineClass(null, bytes, 0, bytes.length); }
  }

  static final List<Object> KEPT = new ArrayList<>();

  static byte[] bytesOfMade() throws IOException {
    try (InputStream in = Defines.class.getResourceAsStream("Defines$Made.class")) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (int b = in.read(); b >= 0; b = in.read()) out.write(b);
      return out.toByteArray();
    }
  }

  static void loaders(byte[] bytes) {
    for (int i = 0; i < 50; i++) {
      Class<?> made = new Loader().define(bytes);
      if (i < 20) KEPT.add(made);
    }
  }

  static void groovy(byte[] bytes) { KEPT.add(new GroovyClassLoader().parseClass(bytes)); }

  static void lambdas() {
    Runnable[] runs = {() -> KEPT.add(1), () -> KEPT.add(2), () -> KEPT.add(3), () -> KEPT.add(4), () -> KEPT.add(5)};
    for (Runnable run : runs) run.run();
  }

  static void proxies() {
    for (Class<?> type : new Class<?>[] {A.class, B.class, C.class})
      KEPT.add(Proxy.newProxyInstance(Defines.class.getClassLoader(), new Class<?>[] {type}, (of, method, arguments) -> null));
  }

  public static void called() {}

  /** The JDK up to 17 generates a class for the sixteenth call. */
  static void reflection() throws ReflectiveOperationException {
    java.lang.reflect.Method called = Defines.class.getMethod("called");
    for (int i = 0; i < 40; i++) called.invoke(null);
    KEPT.add(called);
  }

  public static void main(String[] arguments) throws Exception {
    byte[] bytes = bytesOfMade();
    loaders(bytes);
    groovy(bytes);
    lambdas();
    proxies();
    reflection();
    System.gc();
    System.out.println("done");
  }
}
