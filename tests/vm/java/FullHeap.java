import java.util.ArrayList;
import java.util.List;

/** Fills the heap to its last bytes; then it ends by itself, or with "die" of the OutOfMemoryError. */
public class FullHeap {
    static final List<Object> all = new ArrayList<>();
    static Object[] chain = {};

    static int work(int i) {
        return Math.abs(i) % 7;
    }

    static void fill() {
        while (true) {
            Object[] next = new Object[1];
            next[0] = chain;
            chain = next;
        }
    }

    public static void main(String[] arguments) {
        System.out.println("begin");
        int sum = 0;
        for (int i = 0; i < 3000000; i++) {
            sum += work(i);
        }
        try {
            while (true) {
                all.add(new byte[100]);
            }
        } catch (OutOfMemoryError e) {
            // Now with smaller objects.
        }
        if (arguments.length != 0 || sum == 0) {
            fill();
        }
        try {
            fill();
        } catch (OutOfMemoryError e) {
            // The heap is full.
        }
    }
}
