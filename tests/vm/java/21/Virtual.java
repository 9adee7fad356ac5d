import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** CPU work in virtual threads, which mount and unmount all the time. */
public class Virtual {
    public static void main(String[] arguments) throws Exception {
        AtomicLong sum = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            threads.add(Thread.ofVirtual().name("virtual-" + i).start(() -> {
                for (int k = 0; k < 20; k++) {
                    sum.addAndGet(Spin.hot(100_000) & 0xff);
                    Thread.yield();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("virtual " + sum);
    }
}
