/**
 * Burns CPU time in methods that are known by name: hot about nine tenths of it, warm the rest. The first argument is
 * the number of rounds (one is about a tenth of a second), the second the number of threads. What it prints depends on
 * these alone.
 */
public class Spin {
    static long hot(int n) {
        long value = n;
        for (int i = 0; i < n; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
            value ^= value >>> 17;
        }
        return value;
    }

    static long warm(int n) {
        long value = n;
        for (int i = 0; i < n; i++) {
            value = value * 2862933555777941757L + 3037000493L;
            value ^= value >>> 13;
        }
        return value;
    }

    static long round() {
        return hot(45_000_000) ^ warm(5_000_000);
    }

    static long work(int rounds) {
        long value = 0;
        for (int i = 0; i < rounds; i++) {
            value ^= round() + i;
        }
        return value;
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8;
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        Thread[] threads = new Thread[count];
        long[] values = new long[count];
        for (int i = 0; i < count; i++) {
            int index = i;
            threads[i] = new Thread(() -> values[index] = work(rounds), "spin " + i);
            threads[i].start();
        }
        long value = count == 0 ? work(rounds) : 0;
        for (int i = 0; i < count; i++) {
            threads[i].join();
            value += values[i];
        }
        System.out.println("spin " + value);
    }
}
