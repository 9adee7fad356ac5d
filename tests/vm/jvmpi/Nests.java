/** Calls that end in every way, the same ones in each run. */
public class Nests {
    static class Before {
        Before(int n) { if (n % 2 == 0) throw new IllegalArgumentException("even"); }
    }

    static final class Fails extends Before {
        final int n;

        Fails(int n) {
            super(check(n));
            this.n = n;
            if (n % 3 == 0) throw new IllegalStateException("third");
        }

        int get() { return n; }

        static int check(int n) {
            if (n % 5 == 0) throw new IllegalStateException("fifth");
            return n;
        }
    }

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    static void fall(int n) {
        if (n == 0) throw new IllegalStateException("bottom");
        fall(n - 1);
    }

    static int caught(int n) {
        try {
            return new Fails(n).get();
        } catch (IllegalArgumentException | IllegalStateException e) {
            return 1;
        } finally {
            cleaned(n);
        }
    }

    static void cleaned(int n) {
        try {
            fall(n % 7);
        } catch (IllegalStateException e) {
            locked(n);
        }
    }

    static synchronized int locked(int n) { return n; }

    public static void main(String[] arguments) {
        int sum = fib(15);
        for (int i = 0; i < 60; i++) sum += caught(i);
        System.out.println(sum);
    }
}
