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

    public static void main(String[] arguments) {
        IntFunction<String> name = i -> "item " + i + " of " + arguments.length;
        long sum = 0;
        for (int i = 0; i < 300; i++) {
            int base = i;
            sum += IntStream.range(0, 2000).map(x -> x * base).filter(x -> (x & 1) == 0).asLongStream().sum();
            sum += name.apply(i).hashCode() + deep(500, Math::abs) + thrown(50);
        }
        System.out.println("lambdas " + sum);
    }
}
