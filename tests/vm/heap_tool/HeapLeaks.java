import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Leaks on purpose. HeapLeaks map|loaders|chain|locals; says `ready <pid>` and stays until its stdin ends. */
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

    static final class Context {
        final byte[] state = new byte[200000];
    }

    static final class Pool {
        final ThreadLocal<byte[]> buffer = new ThreadLocal<>();
    }

    static final class Locals {
        static final ThreadLocal<Context> CONTEXT = new ThreadLocal<>();
        static final InheritableThreadLocal<byte[]> INHERITED = new InheritableThreadLocal<>();
        static final ThreadLocal<Object> SHARED = new ThreadLocal<>();
        static final byte[] KEPT_BY_A_FIELD = new byte[3000000];
        static final Pool POOL = new Pool();
        static final List<Thread> THREADS = new ArrayList<>();
    }

    static Thread virtual(Runnable run) throws Exception {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class).invoke(builder, run);
        } catch (NoSuchMethodException none) {
            return daemon(run);
        }
    }

    static Thread daemon(Runnable run) {
        Thread thread = new Thread(run);
        thread.setDaemon(true);
        return thread;
    }

    /** Ten threads with values of thread-locals; where there are virtual threads, half of them are. */
    static void setLocals() throws Exception {
        Locals.INHERITED.set(new byte[1500000]);
        CountDownLatch set = new CountDownLatch(10);
        for (int i = 0; i < 10; i++) {
            Runnable run = () -> {
                Locals.CONTEXT.set(new Context());
                Locals.POOL.buffer.set(new byte[100000]);
                Locals.SHARED.set(Locals.KEPT_BY_A_FIELD);
                new ThreadLocal<byte[]>().set(new byte[150000]);
                set.countDown();
                LockSupport.park(Locals.POOL);
            };
            Thread thread = i < 5 ? virtual(run) : daemon(run);
            Locals.THREADS.add(thread);
            thread.start();
        }
        set.await();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("map")) {
            for (int i = 0; i < 20000; i++) SESSIONS.put(i, new Session(i));
        } else if (arguments[0].equals("locals")) {
            setLocals();
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
