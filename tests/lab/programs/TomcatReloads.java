import jakarta.servlet.http.HttpServlet;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.catalina.Container;
import org.apache.catalina.Context;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;

/**
 * Three web applications in Tomcat, each deployed anew five times. Of /orders a thread stays each time, of /stock a listener, of /mail
 * nothing. Says `ready <pid>`, stays until its stdin ends.
 */
public class TomcatReloads {
    /** Of the server: what applications register and forget. */
    public static final List<Object> LISTENERS = new ArrayList<>();
    static final int DEPLOYMENTS = 6;

    /** Is loaded by the application's own loader, from WEB-INF/classes. */
    public static class App extends HttpServlet {
        private static final List<byte[]> CACHE = new ArrayList<>();

        @Override
        public void init() {
            String application = getServletContext().getContextPath();
            for (int i = 0; i < 100; i++) CACHE.add(new byte[10_000]);
            if (application.equals("/stock")) LISTENERS.add(this);
            if (application.equals("/orders")) {
                Thread thread = new Thread(App::refresh, "orders-refresh");
                thread.setDaemon(true);
                thread.start();
            }
        }

        static void refresh() {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static Context deploy(Tomcat tomcat, Path base, String name) throws Exception {
        Path classes = base.resolve(name).resolve("WEB-INF/classes");
        Files.createDirectories(classes);
        String file = App.class.getName() + ".class";
        Path to = classes.resolve(file);
        if (!Files.exists(to)) Files.copy(App.class.getResourceAsStream(file), to);
        Context context = new StandardContext();
        context.setName("/" + name);
        context.setPath("/" + name);
        context.setDocBase(base.resolve(name).toString());
        context.addLifecycleListener(new Tomcat.FixContextListener());
        Tomcat.addServlet(context, "app", App.class.getName()).setLoadOnStartup(1);
        tomcat.getHost().addChild(context);  // which starts it
        return context;
    }

    public static void main(String[] arguments) throws Exception {
        Path base = new File(arguments[0]).getAbsoluteFile().toPath();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.toString());
        tomcat.setPort(0);
        tomcat.getConnector();
        tomcat.start();
        for (int deployment = 0; deployment < DEPLOYMENTS; deployment++) {
            for (String name : new String[] {"orders", "stock", "mail"}) {
                Container old = tomcat.getHost().findChild("/" + name);
                if (old != null) tomcat.getHost().removeChild(old);
                if (!deploy(tomcat, base, name).getState().isAvailable()) throw new IllegalStateException(name);
            }
        }
        System.out.println("ready " + new File("/proc/self").getCanonicalFile().getName());
        while (System.in.read() >= 0) {
            LISTENERS.size();
        }
        System.exit(0);  // Tomcat's threads would stay
    }
}
