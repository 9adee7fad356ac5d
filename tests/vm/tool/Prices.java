import java.util.ArrayList;
import java.util.List;

/**
 * Prices ten orders. `Prices discount` does so with a discount, which takes a third of the CPU time, by itself and in mix(), which
 * others call, too. What a discount allocates is garbage; what an order allocates is kept.
 */
public class Prices {
    static final List<byte[]> KEPT = new ArrayList<>();
    static volatile byte[] last;

    static long mix(int n) {
        long value = n;
        for (int i = 0; i < n; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
            value ^= value >>> 17;
        }
        return value;
    }

    static long draw(int n) {
        long value = n;
        for (int i = 0; i < n; i++) {
            value = value * 2862933555777941757L + 3037000493L;
            value ^= value >>> 13;
        }
        return value;
    }

    static long discount() {
        long value = 1;
        for (int i = 0; i < 3_000_000; i++) {
            value = value * 3202034522624059733L + 1;
            value ^= value >>> 15;
        }
        for (int i = 0; i < 200; i++) {
            last = new byte[1000];
        }
        return value ^ mix(11_000_000);
    }

    static long tax() {
        return mix(6_000_000);
    }

    static long order(boolean discounted) {
        KEPT.add(new byte[20_000]);
        long value = tax() ^ draw(24_000_000);
        return discounted ? value ^ discount() : value;
    }

    public static void main(String[] arguments) {
        long value = 0;
        for (int i = 0; i < 10; i++) {
            value = value * 31 + order(arguments.length > 0);
        }
        System.out.println(KEPT.size() + " orders of " + value);
    }
}
