/** Says `ready <pid>`, then two threads call, allocate, burn and fight over a monitor for some seconds; says `worked`, and ends with stdin. An argument
 *  is the number of objects of a round. */
public class Rounds {
    static final int ROUNDS = 25;
    static int objects = 40;
    static final Object LOCK = new Object();
    static volatile Object sink;
    static volatile long burned;

    static void made() { for (int i = 0; i < objects; i++) sink = new Rounds(); }
    static void burn() { burned += Spin.hot(3_000_000); }
    static void locked() throws InterruptedException { synchronized (LOCK) { Thread.sleep(5); } }
    static void round() throws InterruptedException { made(); burn(); locked(); Thread.sleep(100); }

    /** Somebody is kept from the monitor for certain. */
    static void contended() throws InterruptedException {
        Thread other = new Thread(() -> { synchronized (LOCK) { sink = LOCK; } });
        synchronized (LOCK) {
            other.start();
            while (other.getState() != Thread.State.BLOCKED) Thread.sleep(1);
        }
        other.join();
    }

    static void work() {
        try {
            for (int i = 0; i < ROUNDS; i++) round();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) objects = Integer.parseInt(arguments[0]);
        System.out.println("ready " + Pid.own());
        Thread[] threads = {new Thread(Rounds::work), new Thread(Rounds::work)};
        for (Thread thread : threads) thread.start();
        contended();
        for (Thread thread : threads) thread.join();
        System.out.println("worked");
        while (System.in.read() >= 0) continue;
        System.out.println("ended");
    }
}
