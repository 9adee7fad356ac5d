import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.net.HttpURLConnection;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * h2, scalac and Tomcat work side by side, each in a loader of its own that is dropped every few seconds with all its classes, while
 * classes of theirs are redefined. Arguments: the class paths of the three. Says `ready`, stays until its stdin ends. Each empty line
 * of stdin is answered by the CPU time that every worker has used since the line before: `cpu NAME MILLISECONDS`, then `.`
 */
public class StackSoak {
    private static final String SOURCE =
        "sealed trait Tree[+A]\ncase class Leaf[A](a: A) extends Tree[A]\ncase class Fork[A](l: Tree[A], r: Tree[A]) extends Tree[A]\n"
        + "object Program {\n  def sum(t: Tree[Int]): Int = t match { case Leaf(a) => a; case Fork(l, r) => sum(l) + sum(r) }\n"
        + "  def main(a: Array[String]): Unit = println((1 to 10).map(n => sum(Fork(Leaf(n), Leaf(n * n)))).mkString)\n}\n";
    private static final int REQUESTS = 1000;
    private static final int ROUNDS_OF_SQL = 10;

    private static volatile boolean ends;
    private static volatile Instrumentation instrumentation;
    private static final Map<String, Integer> DONE = new ConcurrentHashMap<>();

    public static void premain(String arguments, Instrumentation given) {
        instrumentation = given;
    }

    /** One round with the classes of a fresh loader. */
    private interface Round {
        void run(ClassLoader loader) throws Exception;
    }

    private static Object call(Object target, String name, Object... arguments) throws Exception {
        for (Method method : target.getClass().getMethods()) {
            if (!method.getName().equals(name) || method.getParameterCount() != arguments.length) continue;
            boolean fits = true;
            for (int i = 0; i < arguments.length; i++) {
                Class<?> type = method.getParameterTypes()[i];
                fits &= type.isPrimitive() || type.isInstance(arguments[i]);
            }
            if (fits) return method.invoke(target, arguments);
        }
        throw new NoSuchMethodException(name);
    }

    private static void h2(ClassLoader loader) throws Exception {
        Driver driver = (Driver) loader.loadClass("org.h2.Driver").getDeclaredConstructor().newInstance();
        try (Connection connection = driver.connect("jdbc:h2:mem:", new Properties()); Statement statement = connection.createStatement()) {
            statement.execute("create table t(id int primary key, k int, s varchar(80))");
            for (int i = 0; i < ROUNDS_OF_SQL && !ends; i++) {
                statement.execute("insert into t select x, mod(x * 7919, 1000), 'name' || x from system_range(1, 5000)");
                statement.executeQuery("select k, count(*), max(s) from t group by k order by k limit 3").close();
                statement.executeQuery("select count(*) from t a join t b on a.id = b.id + 1 where a.k < b.k").close();
                statement.execute("delete from t");
            }
        }
    }

    private static void scalac(ClassLoader loader, Path folder, String path) throws Exception {
        Path source = folder.resolve("Program.scala");
        Files.write(source, SOURCE.getBytes("US-ASCII"));
        Class<?> compiler = loader.loadClass("scala.tools.nsc.Main");
        String[] arguments = {"-nowarn", "-cp", path, "-d", folder.toString(), source.toString()};
        for (int i = 0; i < 2 && !ends; i++) {
            if (!(Boolean) compiler.getMethod("process", String[].class).invoke(null, (Object) arguments)) continue;
        }
        if (!Files.exists(folder.resolve("Program.class"))) throw new IllegalStateException("scalac made no class");
    }

    private static void tomcat(ClassLoader loader, Path folder) throws Exception {
        Files.write(folder.resolve("page.txt"), new byte[20_000]);
        // A VM takes one factory of URLs, so the second Tomcat would not start.
        loader.loadClass("org.apache.catalina.webresources.TomcatURLStreamHandlerFactory").getMethod("disable").invoke(null);
        Object server = loader.loadClass("org.apache.catalina.startup.Tomcat").getDeclaredConstructor().newInstance();
        call(server, "setBaseDir", folder.toString());
        call(server, "setPort", 0);
        Object connector = call(server, "getConnector");
        Object context = call(server, "addContext", "", folder.toString());
        loader.loadClass("org.apache.catalina.startup.Tomcat")
            .getMethod("addServlet", loader.loadClass("org.apache.catalina.Context"), String.class, String.class)
            .invoke(null, context, "files", "org.apache.catalina.servlets.DefaultServlet");
        call(context, "addServletMappingDecoded", "/", "files");
        call(server, "start");
        URL page = new URL("http://localhost:" + call(connector, "getLocalPort") + "/page.txt");
        byte[] part = new byte[4096];
        for (int i = 0; i < REQUESTS && !ends; i++) {
            HttpURLConnection connection = (HttpURLConnection) page.openConnection();
            try (InputStream in = connection.getInputStream()) {
                while (in.read(part) > 0) continue;
            }
        }
        call(server, "stop");
        call(server, "destroy");
    }

    private static byte[] bytesOf(Class<?> type) throws Exception {
        String name = type.getName().substring(type.getName().lastIndexOf('.') + 1) + ".class";
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (InputStream in = type.getResourceAsStream(name)) {
            if (in == null) return null;
            byte[] part = new byte[4096];
            for (int n = in.read(part); n > 0; n = in.read(part)) all.write(part, 0, n);
        }
        return all.toByteArray();
    }

    /** Redefines classes of the three with the bytes that they have, which discards their compiled code. */
    private static void redefine() throws Exception {
        Random random = new Random(1);
        while (!ends) {
            Class<?>[] loaded = instrumentation.getAllLoadedClasses();
            for (int i = 0; i < 20 && !ends; i++) {
                Class<?> type = loaded[random.nextInt(loaded.length)];
                if (!(type.getClassLoader() instanceof URLClassLoader) || !instrumentation.isModifiableClass(type)) continue;
                byte[] bytes = null;
                try {
                    bytes = bytesOf(type);
                } catch (Exception closed) {  // the round is over
                    continue;
                }
                if (bytes == null) continue;
                try {
                    instrumentation.redefineClasses(new ClassDefinition(type, bytes));
                    DONE.merge("redefined", 1, Integer::sum);
                } catch (LinkageError of) {  // it refers to classes that are not on its path
                    DONE.merge("refused", 1, Integer::sum);
                }
                Thread.sleep(5);
            }
            Thread.sleep(50);
        }
    }

    private static Thread start(String name, String path, Round round) {
        Thread thread = new Thread(() -> {
            try {
                while (!ends) {
                    List<URL> urls = new ArrayList<>();
                    for (String part : path.split(File.pathSeparator)) urls.add(Paths.get(part).toUri().toURL());
                    try (URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getSystemClassLoader().getParent())) {
                        Thread.currentThread().setContextClassLoader(loader);
                        round.run(loader);
                    }
                    DONE.merge(name, 1, Integer::sum);
                }
            } catch (Throwable failure) {
                failure.printStackTrace();
                System.exit(3);
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        Path scala = Files.createDirectory(Paths.get("scala").toAbsolutePath());
        Path tomcat = Files.createDirectory(Paths.get("tomcat").toAbsolutePath());
        java.util.logging.Logger.getLogger("org.apache").setLevel(java.util.logging.Level.OFF);
        Thread[] workers = {
            start("h2", arguments[0], StackSoak::h2),
            start("scalac", arguments[1], loader -> scalac(loader, scala, arguments[1])),
            start("tomcat", arguments[2], loader -> tomcat(loader, tomcat)),
            start("redefine", "", loader -> redefine()),
        };
        ThreadMXBean times = ManagementFactory.getThreadMXBean();
        long[] last = new long[workers.length];
        System.out.println("ready");
        for (int read = System.in.read(); read >= 0; read = System.in.read()) {
            for (int i = 0; i < workers.length; i++) {
                long now = times.getThreadCpuTime(workers[i].getId());
                System.out.println("cpu " + workers[i].getName() + " " + (now - last[i]) / 1_000_000);
                last[i] = now;
            }
            System.out.println(".");
        }
        ends = true;
        for (Thread worker : workers) worker.join();
        System.out.println("did " + new TreeMap<>(DONE));
        System.exit(0);
    }
}
