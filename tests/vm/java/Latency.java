import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Calls whose number and least duration are known.
 *
 * <pre>
 * Latency calls THREADS CALLS [virtual]   each thread calls each of the methods so often
 * Latency waits                           one call of stuck() never ends
 * Latency rounds                          prints "ready <pid>", then 12 calls for each line read, and "did"
 * Latency overflows ROUNDS [virtual]      deep() and looping() recurse until the stack overflows; prints how often each was called
 * Latency constructors                    100 of Order(int), a quarter of which fail in super() and another before it, and one that waits
 * Latency loop CALLS                      a method that does little
 * </pre>
 */
public class Latency {
  static final AtomicInteger left = new AtomicInteger();

  static void rest(int millis) throws InterruptedException {
    Thread.sleep(millis);
  }

  static void twenty() throws InterruptedException {
    rest(20);
  }

  static void twelve() throws InterruptedException {
    rest(12);
  }

  static void eight() throws InterruptedException {
    rest(8);
  }

  /** Every third call ends by an exception. */
  static int thrower(int i) {
    if (i % 3 == 0) throw new IllegalStateException("third");
    return left.incrementAndGet();
  }

  static int recursive(int depth) {
    return depth == 0 ? left.get() : recursive(depth - 1) + 1;
  }

  static synchronized int locked(int i) {
    return left.get() + i;
  }

  static int leaf(int i) {
    return i + 1;
  }

  static void all(int i) {
    try {
      twenty();
      twelve();
      eight();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    try {
      thrower(i);
    } catch (IllegalStateException e) {
      leaf(i);
    }
    recursive(9);
    locked(i);
  }

  static void stuck(CountDownLatch begun) {
    begun.countDown();
    try {
      Thread.sleep(3600000);
    } catch (InterruptedException e) {
      System.out.println("interrupted");
    }
  }

  /** Runs from one round to the next. */
  static boolean line() throws Exception {
    return System.in.read() >= 0;
  }

  static int little(int i) {
    return i < 0 ? left.get() : i;
  }

  static int deep, looping;

  static int deep(int depth) {
    deep++;
    return depth < 0 ? 0 : deep(depth + 1) + 1;
  }

  static int looping(int depth) {
    looping++;
    int sum = 0;
    for (int i = 0; i < 2; i++) sum += i * looping(depth + 1);
    return sum;
  }

  static void overflows(int rounds) {
    for (int i = 0; i < rounds; i++) {
      try {
        deep(0);
      } catch (StackOverflowError e) {
        // Counted.
      }
      try {
        looping(0);
      } catch (StackOverflowError e) {
        // Counted.
      }
    }
  }

  static class Base {
    final int id;

    Base(int id) {
      if (id % 4 == 0) throw new IllegalArgumentException("a fourth");
      this.id = rise(id);
    }

    static int rise(int id) {
      if (id % 4 == 1) throw new IllegalStateException("another");
      return id;
    }
  }

  static class Order extends Base {
    Order(int id) {
      super(id % 4 == 1 ? rise(id) : id);
      left.incrementAndGet();
    }

    /** this() fails like super(). */
    Order() {
      this(4);
    }

    Order(CountDownLatch begun) {
      super(2);
      stuck(begun);
    }
  }

  static void constructors() throws Exception {
    for (int i = 0; i < 100; i++) {
      try {
        new Order(i);
      } catch (IllegalArgumentException | IllegalStateException e) {
        // Counted.
      }
    }
    for (int i = 0; i < 10; i++) {
      try {
        new Order();
      } catch (IllegalArgumentException e) {
        // Counted.
      }
    }
    CountDownLatch begun = new CountDownLatch(1);
    Thread thread = new Thread(() -> new Order(begun));
    thread.setDaemon(true);
    thread.start();
    begun.await();
  }

  static Thread start(Runnable body, boolean virtual) throws Exception {
    if (virtual) return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    Thread thread = new Thread(body);
    thread.start();
    return thread;
  }

  static void calls(int threads, int calls, boolean virtual) throws Exception {
    Thread[] all = new Thread[threads];
    for (int t = 0; t < threads; t++) {
      all[t] = start(() -> {
        for (int i = 0; i < calls; i++) all(i);
      }, virtual);
    }
    for (Thread thread : all) thread.join();
  }

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "calls":
        calls(Integer.parseInt(args[1]), Integer.parseInt(args[2]), args.length > 3);
        break;
      case "waits":
        CountDownLatch begun = new CountDownLatch(1);
        Thread thread = new Thread(() -> stuck(begun));
        thread.setDaemon(true);
        thread.start();
        begun.await();
        all(1);
        break;
      case "overflows":
        start(() -> overflows(Integer.parseInt(args[1])), args.length > 2).join();
        System.out.println(deep + " " + looping);
        break;
      case "constructors":
        constructors();
        break;
      case "rounds":
        System.out.println("ready " + Pid.own());
        while (line()) {
          calls(4, 3, args.length > 1);
          System.out.println("did");
        }
        System.out.println("ended");
        break;
      default:
        long sum = 0;
        for (int i = 0; i < Integer.parseInt(args[1]); i++) sum += little(i);
        System.out.println(sum);
    }
  }
}
