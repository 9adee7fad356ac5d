package groovy.lang;

/** By its name Groovy's, and as small as can be. */
public class GroovyClassLoader extends ClassLoader {
  public GroovyClassLoader() { super(null); }

  public Class<?> parseClass(byte[] bytes) { return defineClass(null, bytes, 0, bytes.length); }
}
