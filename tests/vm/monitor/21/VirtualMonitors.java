import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Virtual threads in monitors (21+). `many <n>`: that many pass two contended monitors each and wait in one.
 * `held`: like Held, with virtual threads; on 21 to 23 they hold on to their carriers, so there are few of them.
 */
public class VirtualMonitors {
    static final Object[] GATES = new Object[16];
    static final Object GATE = new Object();
    static final Object BELL = new Object();
    static final AtomicLong passed = new AtomicLong();
    static volatile boolean stop;

    static Void pass(int number) throws Exception {
        synchronized (GATES[number % 16]) {
            passed.incrementAndGet();
            if (number % 100 == 0) {
                Thread.sleep(2);
            }
        }
        synchronized (GATES[(number + 1) % 16]) {
            GATES[(number + 1) % 16].wait(1);
        }
        return null;
    }

    static void want() {
        synchronized (GATE) {
            passed.incrementAndGet();
        }
    }

    static void listen() {
        synchronized (BELL) {
            try {
                while (!stop) {
                    BELL.wait();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void await(Thread thread, Thread.State state) throws Exception {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    static void many(int count) throws Exception {
        for (int i = 0; i < GATES.length; i++) {
            GATES[i] = new Object();
        }
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < count; i++) {
                int number = i;
                executor.submit(() -> pass(number));
            }
        }
        System.out.println("passed " + passed);
    }

    static void held() throws Exception {
        Thread listener = Thread.ofVirtual().name("listens").start(VirtualMonitors::listen);
        await(listener, Thread.State.WAITING);
        Thread first;
        synchronized (GATE) {
            first = Thread.ofVirtual().name("wants-0").start(VirtualMonitors::want);
            await(first, Thread.State.BLOCKED);
            System.out.println("ready " + Pid.own());
            while (System.in.read() >= 0) {
                continue;
            }
        }
        first.join();
        synchronized (BELL) {
            stop = true;
            BELL.notifyAll();
        }
        listener.join();
        System.out.println("ended");
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("many")) {
            many(Integer.parseInt(arguments[1]));
        } else {
            held();
        }
    }
}
