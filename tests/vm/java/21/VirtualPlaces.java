import java.util.ArrayList;
import java.util.List;

/** A million objects, made at one place by 200 virtual threads that change their carriers all the time. */
public class VirtualPlaces {
    static class Cell { int a; }

    static volatile Object sink;

    public static void main(String[] arguments) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                for (int round = 0; round < 100; round++) {
                    for (int k = 0; k < 50; k++) {
                        sink = new Cell();
                        sink = new Cell[k];
                    }
                    Thread.yield();
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }
}
