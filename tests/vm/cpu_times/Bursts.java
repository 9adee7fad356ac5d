/** Four threads that work for 0.3 ms and wait for 2 ms, by turns: the argument, so often. */
public class Bursts {
    static volatile long sink;

    static void work() {
        long until = System.nanoTime() + 300_000, x = sink;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 200; i++) {
                x = x * 31 + i;
            }
        }
        sink = x;
    }

    static void pause() {
        try {
            Thread.sleep(2);
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int turns = Integer.parseInt(arguments[0]);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < turns; k++) {
                    work();
                    pause();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
