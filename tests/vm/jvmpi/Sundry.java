import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.lang.ref.WeakReference;

/**
 * A bit of everything: calls, objects, threads, a contended monitor, a wait, a class that is compiled, goes and takes its code
 * with it. Arguments: once; or until, that is until there is a file "arrived"; quit: with a SIGQUIT in each round.
 */
public class Sundry {
    public static class Guest implements Runnable {
        int sum;

        int step(int i) { return sum ^ i * 31; }

        @Override
        public void run() {
            for (int i = 0; i < 20_000; i++) sum = step(i);
        }
    }

    static final class Loader extends ClassLoader {
        Loader() { super(Sundry.class.getClassLoader()); }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Sundry$Guest")) return super.loadClass(name, resolve);
            try (InputStream in = Sundry.class.getResourceAsStream("/Sundry$Guest.class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int b = in.read(); b >= 0; b = in.read()) bytes.write(b);
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final Object MONITOR = new Object();
    static volatile Object last;

    static void enter() {
        synchronized (MONITOR) {
            last = new int[3];
        }
    }

    static void contend() throws InterruptedException {
        Thread other = new Thread(Sundry::enter, "other");
        synchronized (MONITOR) {
            other.start();
            while (other.getState() != Thread.State.BLOCKED) Thread.yield();
            last = new String[2];
        }
        other.join();
        synchronized (MONITOR) {
            MONITOR.wait(1);
        }
    }

    static void visit() throws Exception {
        Runnable guest = (Runnable) new Loader().loadClass("Sundry$Guest", true).getConstructor().newInstance();
        guest.run();
        WeakReference<?> kept = new WeakReference<>(guest.getClass());
        guest = null;
        while (kept.get() != null) System.gc();
    }

    public static void main(String[] arguments) throws Exception {
        File arrived = new File("arrived");
        do {
            contend();
            visit();
            if (arguments[0].equals("quit")) new ProcessBuilder("sh", "-c", "kill -QUIT $PPID").start().waitFor();
        } while (!arguments[0].equals("once") && !arrived.exists());
        System.out.println("done");
    }
}
