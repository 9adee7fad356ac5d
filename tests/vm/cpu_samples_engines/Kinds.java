/** Computes in a small method and the loop that calls it, for so many milliseconds. */
public class Kinds {
    static int mix(int x) {
        x ^= x << 13;
        x ^= x >>> 17;
        return x ^ x << 5;
    }

    static int hot(int rounds) {
        int sum = 1;
        for (int i = 0; i < rounds; i++) sum = mix(sum) + i;
        return sum;
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1000000;
        int sum = 0;
        while (System.nanoTime() < end) sum += hot(10000);
        System.out.println(sum == 0 ? "nothing" : "computed");
    }
}
