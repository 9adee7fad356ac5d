/** Says `ready <pid>`, works in a thread of its own until its stdin ends, then says how. */
public class Idle {
    static volatile boolean stop;
    static volatile long sink;

    static void busy() {
        while (!stop) {
            sink = Spin.hot(1_000_000);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread worker = new Thread(Idle::busy, "busy");
        worker.start();
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
        stop = true;
        worker.join();
        System.out.println("ended");
    }
}
