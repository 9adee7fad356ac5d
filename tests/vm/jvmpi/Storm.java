import java.io.File;

/** Two hundred threads named storm-0, storm-1 ... that make objects and do not end before there is a file "over". */
public class Storm {
    static final int THREADS = 200;
    static volatile boolean over;
    static volatile Object last;

    static void make() {
        while (!over) {
            last = new int[16];
            Thread.yield();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) (threads[i] = new Thread(null, Storm::make, "storm-" + i, 128 * 1024)).start();
        File end = new File("over");
        while (!end.exists()) System.gc();
        over = true;
        for (Thread thread : threads) thread.join();
        System.out.println("done");
    }
}
