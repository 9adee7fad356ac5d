import java.io.RandomAccessFile;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Direct memory whose owners are known.
 *
 * <pre>
 * Direct all             what each method took and what lives of it, then the VM's pools
 * Direct threads N CALLS N threads take and free blocks; each keeps one of 64 bytes
 * Direct rounds          says "ready PID"; for each line read keeps 1000 bytes more, and says "did"; at the end the pool and "ended"
 * Direct many N          N blocks of 16 bytes live
 * </pre>
 */
public class Direct {
    static final List<Object> KEPT = new ArrayList<>();
    static final sun.misc.Unsafe UNSAFE = unsafe();

    static sun.misc.Unsafe unsafe() {
        try {
            Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Frees it now: what is in Java 8 and 9. */
    static void clean(ByteBuffer buffer) throws ReflectiveOperationException {
        if (System.getProperty("java.version").startsWith("1.")) {
            Object cleaner = Class.forName("sun.nio.ch.DirectBuffer").getMethod("cleaner").invoke(buffer);
            Class.forName("sun.misc.Cleaner").getMethod("clean").invoke(cleaner);
        } else {
            sun.misc.Unsafe.class.getMethod("invokeCleaner", ByteBuffer.class).invoke(UNSAFE, buffer);
        }
    }

    static BufferPoolMXBean pool(String name) {
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals(name)) return pool;
        }
        throw new IllegalStateException(name);
    }

    static void say(String method, String kind, long liveBytes, long live, long bytes, long blocks) {
        System.out.println(method + " " + kind + " " + liveBytes + " " + live + " " + bytes + " " + blocks);
    }

    static void sayPool(String name) {
        System.out.println("pool " + name + " " + pool(name).getMemoryUsed() + " " + pool(name).getCount());
    }

    static void kept() {
        for (int i = 0; i < 10; i++) KEPT.add(ByteBuffer.allocateDirect(1000));
        KEPT.add(ByteBuffer.allocateDirect(0));
        say("kept", "direct_buffer", 10001, 11, 10001, 11);
    }

    static void cleaned() throws ReflectiveOperationException {
        for (int i = 0; i < 20; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(5000);
            if (i % 4 != 0) clean(buffer);
            if (i % 4 == 0) KEPT.add(buffer);
        }
        say("cleaned", "direct_buffer", 25000, 5, 100000, 20);
    }

    static void dropped() throws InterruptedException {
        long before = pool("direct").getCount();
        drop();
        while (pool("direct").getCount() != before) {
            System.gc();
            Thread.sleep(10);
        }
        say("drop", "direct_buffer", 0, 0, 90000, 30);
    }

    static void drop() {
        for (int i = 0; i < 30; i++) ByteBuffer.allocateDirect(3000);
    }

    static void raw() {
        long[] blocks = new long[7];
        for (int i = 0; i < 7; i++) blocks[i] = UNSAFE.allocateMemory(777);
        for (int i = 0; i < 5; i++) UNSAFE.freeMemory(blocks[i]);
        UNSAFE.freeMemory(0);
        say("raw", "Unsafe", 2 * 777, 2, 7 * 777, 7);
    }

    static void grown() {
        long block = UNSAFE.allocateMemory(100);
        for (int i = 1; i <= 5; i++) block = UNSAFE.reallocateMemory(block, i * 1000);
        say("grown", "Unsafe", 5000, 1, 15100, 6);
        UNSAFE.reallocateMemory(shrunk(), 0);
        say("shrunk", "Unsafe", 0, 0, 300, 1);
    }

    static long shrunk() {
        return UNSAFE.reallocateMemory(0, 300);
    }

    static void mapped() throws Exception {
        MappedByteBuffer last = null;
        try (RandomAccessFile file = new RandomAccessFile("mapped", "rw"); FileChannel channel = file.getChannel()) {
            for (int i = 0; i < 3; i++) {
                if (last != null) KEPT.add(last);
                last = channel.map(FileChannel.MapMode.READ_WRITE, 0, 12345);
            }
        }
        clean(last);
        say("mapped", "mapped_file", 2 * 12345, 2, 3 * 12345, 3);
    }

    static void all() throws Exception {
        kept();
        cleaned();
        dropped();
        mapped();
        if (!System.getProperty("java.version").startsWith("1.")) {
            raw();
            grown();
        }
        try {
            Class.forName("Segments").getMethod("all").invoke(null);
        } catch (ClassNotFoundException e) {
            // before Java 22
        }
        sayPool("direct");
        sayPool("mapped");
    }

    static void take(int calls) throws ReflectiveOperationException {
        ByteBuffer last = ByteBuffer.allocateDirect(64);
        for (int i = 1; i < calls; i++) {
            clean(last);
            last = ByteBuffer.allocateDirect(64);
        }
        synchronized (KEPT) {
            KEPT.add(last);
        }
    }

    static void threads(int count, int calls) throws InterruptedException {
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(() -> {
                try {
                    take(calls);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        say("take", "direct_buffer", 64L * count, count, 64L * count * calls, (long) count * calls);
        sayPool("direct");
    }

    static void round() {
        KEPT.add(ByteBuffer.allocateDirect(1000));
    }

    static void rounds() throws Exception {
        KEPT.add(ByteBuffer.allocateDirect(500));
        System.out.println("ready " + Pid.own());
        for (int read = System.in.read(); read >= 0; read = System.in.read()) {
            if (read != '\n') continue;
            round();
            System.out.println("did");
        }
        sayPool("direct");
        System.out.println("ended");
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "all":
                all();
                break;
            case "threads":
                threads(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
                break;
            case "many":
                for (int i = Integer.parseInt(arguments[1]); i > 0; i--) KEPT.add(ByteBuffer.allocateDirect(16));
                sayPool("direct");
                break;
            default:
                rounds();
        }
    }
}
