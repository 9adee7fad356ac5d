import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Hidden classes at work: lambdas, method references, streams, string concatenation; deep recursion; exceptions. */
public class Lambdas {
    static int deep(int n, IntUnaryOperator leaf) {
        return n == 0 ? leaf.applyAsInt(1) : deep(n - 1, leaf) + 1;
    }

    static int thrown(int n) {
        try {
            if (n == 0) {
                throw new IllegalStateException("bottom");
            }
            return thrown(n - 1);
        } catch (IllegalStateException e) {
            return e.getMessage().length();
        }
    }

    /** Busy inside a lambda for some hundred milliseconds: samplers must meet its class. */
    static long busy() {
        IntUnaryOperator spin = n -> {
            long x = n;
            for (int i = 0; i < 300_000_000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
            return (int) x;
        };
        return spin.applyAsInt(7);
    }

    public static void main(String[] arguments) {
        IntFunction<String> name = i -> "item " + i + " of " + arguments.length;
        long sum = arguments.length == 0 ? 0 : busy();
        for (int i = 0; i < 300; i++) {
            int base = i;
            sum += IntStream.range(0, 2000).map(x -> x * base).filter(x -> (x & 1) == 0).asLongStream().sum();
            sum += name.apply(i).hashCode() + deep(500, Math::abs) + thrown(50);
        }
        System.out.println("lambdas " + sum);
    }
}
