import java.io.File;

/** Calls beat() each 50 ms until stdin ends, then says how often. */
public class Beats {
    static long beats;
    static volatile long sink;

    static void beat() {
        long sum = beats++;
        for (int i = 0; i < 20_000; i++) sum += i ^ sum;
        sink = sum;
    }

    static void beats() throws Exception {
        while (System.in.available() == 0) {
            beat();
            Thread.sleep(50);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("ready " + new File("/proc/self").getCanonicalFile().getName());
        beats();
        System.out.println("beats " + beats);
    }
}
