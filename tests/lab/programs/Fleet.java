import com.sun.source.util.JavacTask;
import java.io.File;
import java.net.URI;
import java.util.Collections;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** A small service: checks a class with javac, then pauses for some ms (its argument), until stdin ends; then says how often. */
public class Fleet {
    static final String TEXT = "import java.util.*; class Order { final Map<String, List<Integer>> items = new TreeMap<>();"
        + " int total() { return items.values().stream().flatMap(List::stream).mapToInt(x -> x + 1).sum(); } }";
    static long rounds;

    static void round(JavaCompiler compiler) throws Exception {
        rounds++;
        SimpleJavaFileObject source = new SimpleJavaFileObject(URI.create("string:///Order.java"), SimpleJavaFileObject.Kind.SOURCE) {
            @Override public CharSequence getCharContent(boolean ignored) {
                return TEXT;
            }
        };
        ((JavacTask) compiler.getTask(null, null, null, null, null, Collections.singletonList(source))).analyze();
    }

    public static void main(String[] arguments) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        System.out.println("ready " + new File("/proc/self").getCanonicalFile().getName());
        do {
            round(compiler);
            Thread.sleep(Integer.parseInt(arguments[0]));
        } while (System.in.available() == 0);
        System.out.println("rounds " + rounds);
    }
}
