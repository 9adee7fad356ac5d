import java.lang.management.ManagementFactory;

/**
 * A thread calls a short method in a loop that, once compiled, looks at nothing outside of it. Says `ready <pid>` when the thread
 * is in that loop; ends with its stdin.
 */
public class LongLoop {
    static volatile int sink;
    static volatile boolean isReady;

    static int step(int x) { return x * 31 + 7; }
    static int loop(int n) { int x = 1; for (int i = 0; i < n; i++) x = step(x); return x; }
    static void run() {
        while (true) {
            sink += loop(100000000);
            if (isReady) System.out.println("looped");
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 20000; i++) sink += loop(100);
        Thread thread = new Thread(LongLoop::run, "loop");
        thread.setDaemon(true);
        thread.start();
        // It has been in the loop for most of that, and will be for much longer.
        while (ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()) < 20_000_000) Thread.sleep(1);
        System.out.println("ready " + Pid.own());
        isReady = true;
        while (System.in.read() >= 0) continue;
        System.out.println("ended");
    }
}
