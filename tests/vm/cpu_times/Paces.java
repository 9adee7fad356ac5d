/**
 * Methods whose calls take long and others that take next to nothing, in turns; says on stderr what each phase took by the
 * program's own clock: its name and nanoseconds, read inside of the call and around it.
 */
public class Paces {
    static volatile int sink;
    static long slow, aroundSlow, quick, aroundQuick, dense, leaves;

    /** A call takes as long as it is told to. */
    static long busy(long ns) {
        long begin = System.nanoTime(), now;
        do now = System.nanoTime(); while (now - begin < ns);
        return now - begin;
    }

    static void slowly() {
        long begin = System.nanoTime();
        slow += busy(2000000);
        aroundSlow += System.nanoTime() - begin;
    }

    static void quickly() {
        long begin = System.nanoTime();
        quick += busy(50000);
        aroundQuick += System.nanoTime() - begin;
    }

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static int fob(int n) { return n < 2 ? n : fob(n - 1) + fob(n - 2); }

    static int leaf(int x) { return x * 31 + 7; }

    static void callLeaves() {
        long begin = System.nanoTime();
        int x = sink;
        for (int i = 0; i < 2000000; i++) x = leaf(x) / 3;
        sink = x;
        leaves += System.nanoTime() - begin;
    }

    static void calls() {
        long begin = System.nanoTime();
        sink += fib(22);
        for (int i = 0; i < 3; i++) sink += fob(22);
        dense += System.nanoTime() - begin;
    }

    /** By itself: who has the time of short calls is an estimate within one thread. */
    static class Caller extends Thread {
        public void run() { for (int i = 0; i < 400; i++) calls(); }
    }

    static void tell(String what, long ns, long around) {
        System.err.println(new StringBuilder("took ").append(what).append(' ').append(ns).append(' ').append(around));
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            slowly();
            for (int k = 0; k < 40; k++) quickly();
            if (i % 10 == 0) callLeaves();
        }
        Thread caller = new Caller();
        caller.start();
        caller.join();
        tell("slow", slow, aroundSlow);
        tell("quick", quick, aroundQuick);
        tell("dense", dense, dense);
        tell("leaves", leaves, leaves);
        System.out.println("done");
    }
}
