import java.util.concurrent.CountDownLatch;

/** Threads that live at the same time, round after round. Arguments: how many, rounds. */
public class Crowd {
    public static void main(String[] arguments) throws InterruptedException {
        int count = Integer.parseInt(arguments[0]), rounds = Integer.parseInt(arguments[1]);
        for (int round = 0; round < rounds; round++) {
            CountDownLatch there = new CountDownLatch(count), go = new CountDownLatch(1);
            Thread[] threads = new Thread[count];
            for (int i = 0; i < count; i++) {
                threads[i] = new Thread(null, () -> {
                    there.countDown();
                    try {
                        go.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }, "crowd-" + i, 128 * 1024);
                threads[i].start();
            }
            there.await();
            go.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.out.println(count * rounds + " threads");
    }
}
