import java.util.ArrayList;
import java.util.List;

/** Virtual threads with their ids in their names: they compute, wait and end. */
public class VirtualNamed {
    static volatile long sink;

    static void compute(long ms) {
        for (long end = System.nanoTime() + ms * 1_000_000; System.nanoTime() < end; ) {
            sink = Spin.hot(10_000);
        }
    }

    static void rest(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Thread thread = Thread.ofVirtual().unstarted(() -> {
                compute(300);
                rest(300);
            });
            thread.setName("virtual-" + thread.threadId());
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("virtual");
    }
}
