import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** As many virtual threads as the argument says, all there at once; each allocates, enters a monitor and sleeps. */
public class VirtualMany {
    static final Object MONITOR = new Object();

    public static void main(String[] arguments) throws Exception {
        AtomicLong sum = new AtomicLong();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                Object[] made = {new int[4], "text"};
                synchronized (MONITOR) {
                    sum.addAndGet(made.length);
                }
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    sum.addAndGet(1000);
                }
            }));
        }
        for (Thread thread : threads) thread.join();
        System.out.println("virtual " + sum);
    }
}
