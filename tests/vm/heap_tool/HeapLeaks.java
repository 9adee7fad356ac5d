import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/** Leaks on purpose. HeapLeaks map|loaders|chain; says `ready <pid>` and stays until its stdin ends. */
public class HeapLeaks {
    static final class Session {
        final String user;
        final byte[] state = new byte[200];

        Session(int number) {
            user = "user-" + number;
        }
    }

    /** Grows and never shrinks. */
    static final Map<Integer, Session> SESSIONS = new HashMap<>();

    static final class Link {
        Object next;
    }

    static final class End {}

    static Object first = new End();

    /** What a server makes anew each time it loads an application. */
    static final class PluginLoader extends ClassLoader {
        PluginLoader() {
            super(HeapLeaks.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(Plugin.class.getName())) return super.loadClass(name, resolve);
            try (InputStream in = HeapLeaks.class.getResourceAsStream(name + ".class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int c; (c = in.read()) >= 0; ) bytes.write(c);
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** Leaves itself in a thread that outlives it. */
    public static final class Plugin implements Runnable {
        static final ThreadLocal<Plugin> CURRENT = new ThreadLocal<>();
        static final byte[] CONFIGURATION = new byte[300000];

        @Override
        public void run() {
            CURRENT.set(this);
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("map")) {
            for (int i = 0; i < 20000; i++) SESSIONS.put(i, new Session(i));
        } else if (arguments[0].equals("chain")) {
            for (int i = 0; i < 60000; i++) {
                Link link = new Link();
                link.next = first;
                first = link;
            }
        } else {
            for (int i = 0; i < 6; i++) {
                Class<?> plugin = new PluginLoader().loadClass(Plugin.class.getName(), true);
                ((Runnable) plugin.getDeclaredConstructor().newInstance()).run();
            }
        }
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
