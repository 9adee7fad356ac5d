/** Two threads that name themselves when they run: one ends, the other one lives at the end. Both burn CPU time. */
public class NamesItself {
    static long burn(String name, int rounds) {
        Thread.currentThread().setName(name);
        return Spin.work(rounds);
    }

    public static void main(String[] arguments) throws Exception {
        Thread ends = new Thread(() -> burn("worker-7", 4), "old-1");
        Thread stays = new Thread(() -> burn("server-1", Integer.MAX_VALUE), "old-2");
        stays.setDaemon(true);
        stays.start();
        ends.start();
        ends.join();
        System.out.println("named");
    }
}
