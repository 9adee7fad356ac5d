import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * The program of the pages (app.jar): burns CPU in price() and a tenth of it in tax(), keeps every order in a cache and direct
 * buffers in label() for ever, and lets two threads fight over one monitor in ship(). `Shop serve` says `ready <pid>`, leaks orders
 * in a ledger each hour, and goes on until its stdin ends. The routes of its requests are labels of hprof.Context, if that is there.
 */
public class Shop {
    static final class Order {
        final String customer;
        final byte[] receipt = new byte[1000];

        Order(int number) {
            customer = "customer-" + number;
        }
    }

    static final Map<Integer, Order> CACHE = new HashMap<>();
    static final List<Order> LEDGER = new ArrayList<>();
    static final List<ByteBuffer> LABELS = new ArrayList<>();
    static final Object DOCK = new Object();
    static boolean leaks;
    static volatile boolean closed;

    static long price(int articles) {
        long value = articles;
        for (int i = 0; i < articles; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
            value ^= value >>> 17;
        }
        return value;
    }

    static long tax(int articles) {
        long value = articles;
        for (int i = 0; i < articles; i++) {
            value = value * 2862933555777941757L + 3037000493L;
            value ^= value >>> 13;
        }
        return value;
    }

    /** Says as a tracer does which request the thread works for. */
    static void serving(String route) {
        try {
            Class<?> context = Class.forName("hprof.Context", true, null);
            Object labels = context.getMethod("label", String.class, String.class).invoke(null, "route", route);
            context.getMethod("set", long.class, long.class, long.class, int.class).invoke(null, 0L, 0L, 0L, labels);
        } catch (ReflectiveOperationException withoutTheAgent) {
            return;
        }
    }

    static void label() {
        if (LABELS.size() < 100) {
            LABELS.add(ByteBuffer.allocateDirect(4000));
        }
    }

    /** Few and long calls: the compilers do not join the methods into one. */
    static long hour(int first) {
        if (leaks) {
            leak();
        }
        for (int i = 0; i < 1000; i++) {
            CACHE.put(first + i, new Order(first + i));
        }
        label();
        serving("/price");
        long value = price(36_000_000);
        serving("/tax");
        return value ^ tax(4_000_000);
    }

    static void ship() {
        try {
            for (int i = 0; i < 20 && !closed; i++) {
                synchronized (DOCK) {
                    Thread.sleep(20);
                }
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void pack() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static long day() {
        long value = 0;
        for (int i = 0; i < 10 && !closed; i++) {
            value = value * 31 + hour(1000 * i);
        }
        return value;
    }

    static void leak() {
        for (int i = 0; i < 100 && LEDGER.size() < 50_000; i++) {
            LEDGER.add(new Order(i));
        }
    }

    static void serve() throws Exception {
        leaks = true;
        Thread worker = new Thread(() -> {
            while (!closed) {
                day();
            }
        }, "worker");
        worker.start();
        Executor packers = Executors.newSingleThreadExecutor(task -> {
            Thread packer = new Thread(task, "packer 1");
            packer.setDaemon(true);
            return packer;
        });
        for (int i = 1; i <= 2; i++) {
            Thread docker = new Thread(() -> {
                while (!closed) {
                    packers.execute(Shop::pack);
                    ship();
                }
            }, "docker " + i);
            docker.setDaemon(true);
            docker.start();
        }
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
        closed = true;
        worker.join();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            serve();
            return;
        }
        Thread[] dockers = {new Thread(Shop::ship, "docker 1"), new Thread(Shop::ship, "docker 2")};
        for (Thread docker : dockers) {
            docker.start();
        }
        long value = day();
        for (Thread docker : dockers) {
            docker.join();
        }
        System.out.println("sold for " + Math.abs(value % 1000));
    }
}
