import hprof.Counts;
import hprof.Hprof;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Counts what it knows the numbers of: Counting TEST. Says what is wrong, and "done" at the end. */
public class Counting {
    static class Item {
        int value;
    }

    static Object kept;

    static int step(int n) {
        return n + 1;
    }

    static int steps(int count) {
        int sum = 0;
        for (int i = 0; i < count; i++) sum = step(sum);
        return sum;
    }

    static void items(int count) {
        for (int i = 0; i < count; i++) kept = new Item();
    }

    static void arrays(int count) {
        for (int i = 0; i < count; i++) kept = new byte[1000];
    }

    static void fails(int count) throws IOException {
        steps(count);
        throw new IOException("as it should");
    }

    static void work(int count) {
        steps(count);
        items(count);
    }

    static synchronized void check(long expected, long found, String what) {
        if (expected != found) System.out.println(what + ": " + found + " instead of " + expected);
    }

    static void check(int steps, int items, Counts counts, String what) {
        check(steps, counts.calls("Counting.step"), what + ", steps");
        check(items, counts.objects(Item.class), what + ", items");
    }

    static void calls() {
        for (int count : new int[] {0, 1, 7, 100000, 3}) {
            steps(5);
            Counts counts = Hprof.count(() -> steps(count));
            steps(5);
            check(count, counts.calls("Counting.step"), "steps");
            check(1, counts.calls("Counting.steps"), "calls of steps");
            check(count + 1, counts.calls("Counting.ste*"), "calls by a pattern");
            check(0, counts.calls("Counting.che*"), "calls by a pattern that none has");
            check(count + 1, counts.calls() - counts.calls("Counting.lambda*") - counts.calls("Counting$$*"), "all calls");
        }
    }

    static void objects() {
        for (int count : new int[] {0, 1, 7, 20000, 3}) {
            items(5);
            arrays(5);
            Counts counts = Hprof.count(() -> {
                items(count);
                arrays(2 * count);
            });
            items(5);
            check(count, counts.objects(Item.class), "items");
            check(2 * count, counts.objects("byte[]"), "arrays");
            check(3 * count, counts.objects(), "objects: " + counts.where("*"));
            check(2 * count * 1016L, counts.bytes(byte[].class), "bytes of arrays");
            check(counts.bytes(Item.class) + counts.bytes("byte[]"), counts.bytes(), "bytes");
            String where = counts.where("byte[]");
            if (count != 0 && !where.matches("(?s)[0-9,.]+ objects, .*\tat Counting.arrays\\(Counting.java:\\d+\\).*\tat Counting.main.*"))
                System.out.println("where: " + where);
        }
    }

    /** The first time, the VM makes objects for the lambdas. */
    static void nested() {
        nested(0);
        nested(118);
    }

    static void nested(int objects) {
        Counts[] inner = new Counts[2];
        Counts outer = Hprof.count(() -> {
            work(10);
            inner[0] = Hprof.count(() -> {
                work(3);
                inner[1] = Hprof.count(() -> work(4));
            });
            work(100);
        });
        check(117, 117, outer, "outer");
        check(7, 7, inner[0], "inner");
        check(4, 4, inner[1], "innermost");
        if (objects != 0) {
            check(objects, outer.objects(), "objects, with a lambda but without those of counts: " + outer.where("*"));
            check(4, inner[1].objects(), "objects of the innermost");
        }
        Counts first = Hprof.begin();
        work(1);
        Counts second = Hprof.begin();
        work(2);
        first.close();
        work(4);
        second.close();
        first.close();
        check(3, 3, first, "the first of two that overlap");
        check(6, 6, second, "the second");
    }

    static void exceptions() throws Exception {
        Counts outer = Hprof.begin();
        try {
            Hprof.count(() -> fails(7));
            System.out.println("no exception");
        } catch (IOException e) {
            check(12, e.getMessage().length(), "the message");
        }
        outer.close();
        check(7, 0, outer, "after an exception");
        Counts open = Hprof.begin();
        refused(() -> open.calls(), "the count has not ended");
        IllegalStateException[] thrown = new IllegalStateException[1];
        Thread other = new Thread(() -> {
            try {
                open.close();
            } catch (IllegalStateException e) {
                thrown[0] = e;
            }
        });
        other.start();
        other.join();
        if (thrown[0] == null || !thrown[0].getMessage().contains("the thread that began")) System.out.println("closed by another: " + thrown[0]);
        open.close();
        refused(() -> open.calls("Counting.stp"), "calls of Counting.stp are not counted");
        check(0, open.calls("Counting.arrays"), "arrays, which has no call");
    }

    static void refused(Runnable call, String why) {
        try {
            call.run();
            System.out.println("not refused: " + why);
        } catch (RuntimeException e) {
            if (!e.getMessage().contains(why)) System.out.println(e.getMessage() + " instead of " + why);
        }
    }

    /** Each thread counts for itself, while others call the same. */
    static void threads() throws Exception {
        int count = 8;
        CountDownLatch ready = new CountDownLatch(count);
        List<Thread> threads = new ArrayList<>();
        Counts all = Hprof.begin(Hprof.Threads.ALL);
        Counts own = Hprof.begin();
        for (int t = 1; t <= count; t++) {
            int number = t;
            threads.add(new Thread(() -> {
                ready.countDown();
                await(ready);
                for (int round = 1; round <= 50; round++) {
                    int calls = number * round;
                    Counts counts = Hprof.count(() -> work(calls));
                    work(3);
                    check(calls, calls, counts, "thread " + number);
                }
            }));
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        work(5);
        own.close();
        all.close();
        int sum = 36 * 1275 + 8 * 50 * 3 + 5;
        check(5, 5, own, "the thread that waits");
        check(sum, sum, all, "all threads");
    }

    /** A thread without a count makes items while another one counts. */
    static void others() throws Exception {
        Counts counts = Hprof.count(() -> {
            Thread other = new Thread(() -> items(1000));
            other.start();
            other.join();
            items(7);
        });
        check(7, counts.objects(Item.class), "items beside those of another thread");
    }

    /** An item at each of 2 to the depth stacks. */
    static void tree(int depth) {
        if (depth == 0) {
            items(1);
            return;
        }
        tree(depth - 1);
        tree(depth - 1);
    }

    /** More stacks than the agent has memory for. */
    static void stacks() {
        for (int round = 0; round < 2; round++) {
            Counts counts = Hprof.count(() -> tree(15));
            check(1 << 15, counts.objects(Item.class), "items of many stacks");
            check(1, counts.where(Item.class).contains("at JVM.no_memory_for_the_trace") ? 1 : 0, "items without a stack");
            check(1 << 15, counts.calls("Counting.items"), "calls with many stacks");
        }
        check(3, 3, Hprof.count(() -> work(3)), "a count after many stacks");
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void many() {
        long sum = 0;
        for (int i = 0; i < 20000; i++) sum += Hprof.count(() -> work(1)).calls("Counting.step");
        check(20000, sum, "steps of many counts");
        List<Counts> open = new ArrayList<>();
        refused(() -> {
            for (int i = 0; i < 5000; i++) open.add(Hprof.begin());
        }, "no memory");
        check(4096, open.size(), "open counts");
        for (Counts counts : open) counts.close();
    }

    /** Stopped while the program waits for the end of its stdin. */
    static void stopped() throws Exception {
        Counts counts = Hprof.count(() -> work(3));
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) continue;
        refused(() -> counts.calls(), "was stopped");
        refused(() -> Hprof.count(() -> work(3)), "does not count in this VM");
    }

    /** A virtual thread may be anywhere: its calls and objects are no thread's. */
    static void virtual() throws Exception {
        List<String> refusals = new ArrayList<>();
        Counts[] all = new Counts[1];
        Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
            try {
                Hprof.count(() -> work(1));
            } catch (IllegalStateException e) {
                refusals.add(e.getMessage());
            }
            all[0] = Hprof.count(Hprof.Threads.ALL, () -> {
                work(2);
                Thread.yield();
                work(3);
            });
        });
        thread.join();
        if (!refusals.equals(Arrays.asList("a virtual thread cannot count its own calls and objects: count with Threads.ALL")))
            System.out.println("refusals: " + refusals);
        check(5, 5, all[0], "all threads, of which one is virtual");
    }

    /** "ready <pid>", then for each line that it reads a count, or why there is none, and "did". Names are of the session that counted. */
    static void rounds() throws IOException {
        System.out.println("ready " + Pid.own());
        Counts[] unread = new Counts[1];
        while (System.in.read() >= 0) {
            if (unread[0] != null) refused(() -> unread[0].calls(), "was stopped");
            try {
                unread[0] = Hprof.count(() -> work(1));
                Counts counts = Hprof.count(() -> work(7));
                System.out.println(counts.calls("Counting.step") + " steps");
                System.out.println(counts.objects(Item.class) + " items");
            } catch (IllegalStateException e) {
                System.out.println(e.getMessage());
            }
            System.out.println("did");
        }
        System.out.println("ended");
    }

    static void absent() {
        check(0, Hprof.isPresent() ? 1 : 0, "present");
        refused(() -> Hprof.count(() -> steps(1)), "-agentpath:/path/to/libhprof.so=count=y,include=");
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "calls": calls(); break;
            case "objects": objects(); break;
            case "nested": nested(); break;
            case "exceptions": exceptions(); break;
            case "threads": threads(); break;
            case "many": many(); break;
            case "others": others(); break;
            case "stacks": stacks(); break;
            case "stopped": stopped(); break;
            case "virtual": virtual(); break;
            case "rounds": rounds(); return;
            default: absent();
        }
        System.out.println("done");
    }
}
