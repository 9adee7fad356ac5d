/**
 * Makes 600,000 pieces in four threads, lets them go, and has them collected: `Garbage` prints how many. `Garbage 100`
 * makes that many in the main thread, before all else.
 */
public class Garbage {
    static final class Piece {
        Piece before;
    }

    static final int THREADS = 4, PIECES = 150000;
    static volatile Piece last;

    static void make() {
        for (int i = 0; i < PIECES; i++) {
            last = new Piece();
            if (i % 50000 == 0) System.gc();
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1) {
            for (int i = Integer.parseInt(arguments[0]); i > 0; i--) last = new Piece();
            return;
        }
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) (threads[i] = new Thread(Garbage::make)).start();
        for (Thread thread : threads) thread.join();
        last = null;
        for (int i = 0; i < 3; i++) System.gc();
        System.out.println(THREADS * PIECES);
    }
}
