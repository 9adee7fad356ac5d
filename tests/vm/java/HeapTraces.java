import java.util.ArrayList;
import java.util.List;

/** Keeps objects that are made at known places, amid much that is not kept. `HeapTraces busy` goes on until its stdin ends. */
public class HeapTraces {
    static class First { int a = 1; }
    static class Second { long b = 2; }
    static class Third extends Second { Object next; }

    static final List<Object> KEPT = new ArrayList<>();
    static Object[] holder;
    static volatile Third chain;
    static volatile boolean done;
    static int sum;

    static void first() {
        for (int i = 0; i < 3000; i++) {
            KEPT.add(new First()); // place: first
            churn();
        }
    }

    static void second(int depth) {
        if (depth > 0) {
            second(depth - 1);
            return;
        }
        for (int i = 0; i < 500; i++) {
            KEPT.add(new Second()); // place: second
            KEPT.add(new short[7]); // place: shorts
            churn();
        }
    }

    static void array() {
        holder = new Second[4321]; // place: array
        KEPT.add(new float[200000]); // place: floats
    }

    /** Garbage, so that what is kept moves. */
    static void churn() {
        for (int i = 0; i < 20; i++) sum += new long[1 + i].length; // place: garbage
        if (KEPT.size() % 500 == 0) {
            for (int i = 0; i < 40; i++) sum += new byte[500000].length;
        }
    }

    /** Keeps the last objects of many. */
    static void work() {
        while (!done) {
            Third last = null;
            for (int i = 0; i < 1000; i++) {
                Third made = new Third(); // place: third
                made.next = last;
                last = i % 100 == 0 ? null : made;
            }
            chain = last;
            churn();
        }
    }

    public static void main(String[] arguments) throws Exception {
        first();
        array();
        second(2);
        if (arguments.length == 0) {
            System.out.println("kept " + KEPT.size() + " " + sum);
            return;
        }
        Thread[] workers = {new Thread(HeapTraces::work), new Thread(HeapTraces::work)};
        for (Thread worker : workers) worker.start();
        while (chain == null) Thread.sleep(1);
        System.out.println("ready " + Pid.own());
        System.out.flush();
        while (System.in.read() >= 0) { }
        done = true;
        for (Thread worker : workers) worker.join();
    }
}
