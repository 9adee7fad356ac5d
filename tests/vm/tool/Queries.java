/**
 * Draws pages of ten queries. `Queries N` draws one page of N queries more; each allocates an int[] of its own.
 */
public class Queries {
    static int query(int i) {
        return new int[i].length;
    }

    static int page(int queries) {
        int sum = 0;
        for (int i = 0; i < queries; i++) sum += query(i);
        return sum;
    }

    public static void main(String[] arguments) {
        int sum = 0;
        for (int i = 0; i < 500; i++) sum += page(10);
        if (arguments.length > 0) sum += page(Integer.parseInt(arguments[0]));
        System.out.println(sum);
    }
}
