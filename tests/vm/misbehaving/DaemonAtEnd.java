/** Says `ready <pid>`, starts a daemon thread, and ends when its stdin does, whatever that thread does. */
public class DaemonAtEnd {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ready " + Pid.own());
        Thread daemon = new Thread(DaemonAtEnd::sleep, "daemon");
        daemon.setDaemon(true);
        daemon.start();
        while (System.in.read() >= 0) {
            continue;
        }
        System.out.println("ended");
    }

    private static void sleep() {
        try {
            Thread.sleep(1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
