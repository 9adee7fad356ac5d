/** Threads that name themselves when they run, with the ids that Java gave them, and fight over a monitor. */
public class NamedById {
    static final Object MONITOR = new Object();

    static void run() {
        Thread.currentThread().setName("id-" + Thread.currentThread().getId());
        Spin.work(4);
        synchronized (MONITOR) {
            Spin.work(1);
        }
    }

    static void serve() {
        Thread.currentThread().setName("daemon-" + Thread.currentThread().getId());
        Spin.work(Integer.MAX_VALUE);
    }

    public static void main(String[] arguments) throws Exception {
        Thread server = new Thread(NamedById::serve, "old");
        server.setDaemon(true);
        server.start();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(NamedById::run, "old");
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        synchronized (MONITOR) {
            MONITOR.wait(30);
        }
        System.gc();
        System.out.println("named");
    }
}
