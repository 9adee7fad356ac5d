import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Works without an end, the same way all the time, so that memory which grows is somebody else's: the database h2 (where it is
 * on the class path), classes that come and go in loaders of their own, threads in bursts, a monitor with much traffic. With an
 * argument the database alone, with as many connections. Says `ready <pid>`, stays until its stdin ends, and prints what it did.
 */
public class Soak {
    private static final int ROWS = 500;
    private static final int BURST = 40;
    private static final Object SHARED = new Object();

    private static volatile boolean ends;
    private static final AtomicLong QUERIES = new AtomicLong();
    private static final AtomicLong CLASSES = new AtomicLong();
    private static final AtomicLong THREADS = new AtomicLong();
    private static long shared;

    /** What is loaded again and again. */
    public static class Unit implements Runnable {
        private final int[] cells = new int[64];

        @Override
        public void run() {
            for (int i = 0; i < cells.length; i++) cells[i] = step(i);
        }

        private int step(int i) {
            return i * 31 + cells.length;
        }
    }

    private static final class OwnLoader extends ClassLoader {
        private final byte[] bytes;

        OwnLoader(byte[] bytes) {
            super(Soak.class.getClassLoader());
            this.bytes = bytes;
        }

        Runnable make() throws ReflectiveOperationException {
            Class<?> made = defineClass(Unit.class.getName(), bytes, 0, bytes.length);
            return (Runnable) made.getDeclaredConstructor().newInstance();
        }
    }

    private static byte[] bytesOfUnit() throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (InputStream in = Soak.class.getResourceAsStream("Soak$Unit.class")) {
            byte[] part = new byte[4096];
            for (int n = in.read(part); n > 0; n = in.read(part)) all.write(part, 0, n);
        }
        return all.toByteArray();
    }

    private static void churn(byte[] bytes) throws Exception {
        while (!ends) {
            for (int i = 0; i < 20; i++) new OwnLoader(bytes).make().run();
            CLASSES.addAndGet(20);
            Thread.sleep(100);
        }
    }

    private static void storm() throws InterruptedException {
        while (!ends) {
            Thread[] burst = new Thread[BURST];
            for (int i = 0; i < BURST; i++) {
                burst[i] = new Thread(() -> {
                    synchronized (SHARED) {
                        for (int n = 0; n < 2000; n++) shared += n;
                    }
                }, "burst-" + i);
                burst[i].start();
            }
            for (Thread thread : burst) thread.join();
            THREADS.addAndGet(BURST);
            Thread.sleep(100);
        }
    }

    private static void query() throws Exception {
        Connection connection;
        try {
            connection = DriverManager.getConnection("jdbc:h2:mem:soak;CACHE_SIZE=64");
        } catch (SQLException none) {
            return;
        }
        synchronized (QUERIES) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("create table if not exists item(id int primary key, name varchar(80))");
                for (int i = 0; i < ROWS; i++) statement.execute("merge into item values(" + i + ", 'item " + i + "')");
            }
        }
        Random random = new Random(1);
        while (!ends) {
            try (PreparedStatement of = connection.prepareStatement("select count(*) from item where name like ?")) {
                of.setString(1, "%" + random.nextInt(100) + "%");
                try (ResultSet result = of.executeQuery()) {
                    result.next();
                }
            }
            QUERIES.incrementAndGet();
            Thread.sleep(5);
        }
        connection.close();
    }

    private interface Work {
        void run() throws Exception;
    }

    private static Thread start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception failure) {
                failure.printStackTrace();
                System.exit(3);
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        byte[] bytes = bytesOfUnit();
        List<Thread> all = new ArrayList<>();
        if (arguments.length == 0) {
            all.add(start("churn", () -> churn(bytes)));
            all.add(start("storm", Soak::storm));
        }
        int connections = arguments.length == 0 ? 1 : Integer.parseInt(arguments[0]);
        for (int i = 0; i < connections; i++) all.add(start("query", Soak::query));
        System.out.println("ready " + new java.io.File("/proc/self").getCanonicalFile().getName());
        while (System.in.read() >= 0) {
            shared++;
        }
        ends = true;
        for (Thread thread : all) thread.join();
        System.out.println(CLASSES.get() + " classes, " + THREADS.get() + " threads, " + QUERIES.get() + " queries");
    }
}
