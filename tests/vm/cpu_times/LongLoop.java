/** A thread calls a short method in a loop that, once compiled, looks at nothing outside of it; ends with its stdin. */
public class LongLoop {
    static volatile int sink;

    static int step(int x) { return x * 31 + 7; }
    static int loop(int n) { int x = 1; for (int i = 0; i < n; i++) x = step(x); return x; }
    static void run() { while (true) { sink += loop(100000000); System.out.println("looped"); } }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 20000; i++) sink += loop(100);
        Thread thread = new Thread(LongLoop::run, "loop");
        thread.setDaemon(true);
        thread.start();
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) continue;
        System.out.println("ended");
    }
}
