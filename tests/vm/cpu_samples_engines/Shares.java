import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.Selector;
import java.util.concurrent.locks.LockSupport;

/**
 * Spends 50, 30 and 20 % of its CPU time in three methods of very different shape, next to 20 threads that are blocked in
 * epoll, accept and park. Prints what each method really used, by the thread's CPU clock:
 *
 *   SHARE counted 50.01
 *
 * Arguments: seconds of CPU time (10), threads that work (1), milliseconds of CPU time of a round: the methods then take turns at
 * fixed moments of it, and the other threads are left out.
 */
public class Shares {
  static final int METHODS = 3;
  static final String[] NAMES = {"counted", "recursive", "tiny"};
  static final double[] WANTED = {0.5, 0.3, 0.2};
  static final long SLICE_NS = 50_000_000;
  static volatile long sink;

  // An int loop over a counted range: compiled without safepoint polls on JDK 8, with few of them later.
  static long counted(int n) {
    long x = n;
    for (int i = 0; i < n; i++) x = x * 31 + (i ^ (x >>> 7));
    return x;
  }

  // Nothing but calls and returns.
  static int recursive(int n) {
    return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
  }

  // Calls that the compiler inlines all.
  static long tiny(Cell cell, long n) {
    for (long i = 0; i < n; i++) cell.set(mix(cell.get(), i));
    return cell.get();
  }
  static long mix(long a, long b) { return twist(a + b) ^ b; }
  static long twist(long a) { return a * 0x9E3779B97F4A7C15L + (a >>> 29); }
  static final class Cell {
    private long value = 1;
    long get() { return value; }
    void set(long v) { value = v; }
  }

  static void run(int method, Cell cell) {
    switch (method) {
      case 0: sink += counted(300_000); break;
      case 1: sink += recursive(22); break;
      default: sink += tiny(cell, 100_000); break;
    }
  }

  static long[] work(ThreadMXBean clock, long total) {
    long[] used = new long[METHODS];
    Cell cell = new Cell();
    long sum = 0;
    long now = clock.getCurrentThreadCpuTime();
    while (sum < total) {
      // The method that lags behind most gets the next slice.
      int next = 0;
      for (int m = 1; m < METHODS; m++) {
        if (used[m] / WANTED[m] < used[next] / WANTED[next]) next = m;
      }
      long from = now;
      do {
        run(next, cell);
        now = clock.getCurrentThreadCpuTime();
      } while (now - from < SLICE_NS);
      used[next] += now - from;
      sum += now - from;
    }
    return used;
  }

  static final int[] TENTHS = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2};

  static void runShort(int method, Cell cell) {
    switch (method) {
      case 0: sink += counted(30_000); break;
      case 1: sink += recursive(18); break;
      default: sink += tiny(cell, 12_000); break;
    }
  }

  static long[] workInRounds(ThreadMXBean clock, long total, long round) {
    long[] used = new long[METHODS];
    Cell cell = new Cell();
    long from = clock.getCurrentThreadCpuTime();
    for (long now = from; now < from + total; ) {
      int method = TENTHS[(int) (now % round * 10 / round)];
      long before = now;
      runShort(method, cell);
      now = clock.getCurrentThreadCpuTime();
      used[method] += now - before;
    }
    return used;
  }

  interface Blocking { void block() throws Exception; }

  static void blocked(String name, int count, Blocking body) {
    for (int i = 0; i < count; i++) {
      Thread t = new Thread(() -> {
        try {
          body.block();
        } catch (Exception e) {
          throw new RuntimeException(e);
        }
      }, name + i);
      t.setDaemon(true);
      t.start();
    }
  }

  static void blockedInEpoll() throws Exception { Selector.open().select(); }
  static void blockedInAccept() throws Exception {
    new ServerSocket(0, 1, InetAddress.getLoopbackAddress()).accept().close();
  }
  static void blockedInPark() {
    while (true) LockSupport.park();
  }

  public static void main(String[] args) throws Exception {
    long seconds = args.length > 0 ? Long.parseLong(args[0]) : 10;
    int threads = args.length > 1 ? Integer.parseInt(args[1]) : 1;
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    if (args.length > 2) {
      print(new long[][] {workInRounds(clock, seconds * 1_000_000_000L, (long) (Double.parseDouble(args[2]) * 1e6))});
      return;
    }
    blocked("epoll-", 7, Shares::blockedInEpoll);
    blocked("accept-", 7, Shares::blockedInAccept);
    blocked("park-", 6, Shares::blockedInPark);
    long[][] used = new long[threads][];
    Thread[] workers = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      int id = i;
      workers[i] = new Thread(() -> used[id] = work(clock, seconds * 1_000_000_000L / threads), "worker-" + i);
      workers[i].start();
    }
    for (Thread t : workers) t.join();
    print(used);
  }

  static void print(long[][] used) {
    double total = 0;
    double[] sums = new double[METHODS];
    for (long[] u : used) {
      for (int m = 0; m < METHODS; m++) {
        sums[m] += u[m];
        total += u[m];
      }
    }
    for (int m = 0; m < METHODS; m++) System.out.printf("SHARE %s %.2f%n", NAMES[m], 100 * sums[m] / total);
  }
}
