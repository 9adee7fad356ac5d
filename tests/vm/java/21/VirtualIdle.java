import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Idle with many virtual threads (10000, or as many as asked for) that compute, allocate, fight for monitors and park (21+). */
public class VirtualIdle {
    static final Object[] GATES = new Object[64];
    static final AtomicInteger started = new AtomicInteger();
    static volatile boolean stop;
    static volatile Object sink;

    static void work(int number) {
        started.incrementAndGet();
        while (!stop) {
            synchronized (GATES[number % 64]) {
                sink = new long[number % 100];
            }
            for (int i = 0; i < 1000; i++) {
                sink = i;
            }
            LockSupport.parkNanos(100_000_000);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10000;
        for (int i = 0; i < 64; i++) {
            GATES[i] = new Object();
        }
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < count; i++) {
                int number = i;
                executor.submit(() -> work(number));
            }
            while (started.get() < count) {
                Thread.sleep(1);
            }
            System.out.println("ready " + Pid.own());
            while (System.in.read() >= 0) {
                continue;
            }
            stop = true;
        }
        System.out.println("ended");
    }
}
