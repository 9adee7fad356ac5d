/**
 * Makes pieces in four threads, `Survivors 100000` so many in each, and holds every 16th of them to the end. Half of the others live
 * for a while. Prints how many there are of each kind. `Survivors 100000 stay` says `ready <pid>` first, and ends when its stdin does.
 */
public class Survivors {
    static final class Piece {
        long number;
    }

    static final class Kept {
        long number;
    }

    static final int THREADS = 4, EVERY = 16, WHILE = 4096;
    static final Object[][] HELD = new Object[THREADS][];

    static void make(int thread, int pieces) {
        Object[] some = new Object[WHILE];
        for (int i = 0; i < pieces; i++) {
            if (i % EVERY == 0) {
                HELD[thread][i / EVERY] = new Kept();
            } else {
                Object piece = new Piece();
                if (i % 2 == 0) some[i / 2 % WHILE] = piece;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int pieces = Integer.parseInt(arguments[0]);
        boolean stays = arguments.length > 1;
        if (stays) System.out.println("ready " + Pid.own());
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            HELD[i] = new Object[pieces / EVERY];
            threads[i] = new Thread() {
                @Override
                public void run() {
                    make(number, pieces);
                }
            };
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        while (stays && System.in.read() >= 0) {}
        System.out.println(THREADS * (pieces - pieces / EVERY) + " " + THREADS * (pieces / EVERY));
    }
}
