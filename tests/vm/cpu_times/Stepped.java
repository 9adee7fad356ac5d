/** For a debugger: calls, objects, and an exception, all of its own; ends in last(). */
public class Stepped {
    static final class Own extends RuntimeException {
        Own() {
            super(null, null, false, false);
        }
    }

    int value;

    static int twice(int v) {
        return once(v) + once(v);
    }

    static int once(int v) {
        Stepped made = new Stepped();
        made.value = v;
        return made.value + new int[v].length;
    }

    static int caught(int v) {
        try {
            if (v == 3) throw new Own();
        } catch (Own e) {
            return v;
        }
        return twice(v);
    }

    static void last() {
    }

    public static void main(String[] arguments) {
        int sum = 0;
        for (int i = 1; i < 6; i++) sum += caught(i);
        last();
    }
}
