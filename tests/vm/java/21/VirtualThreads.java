import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * Burns CPU time on virtual threads that also park and yield, between their bursts, next to many that only park (21+).
 *
 * Arguments: seconds (5).
 */
public class VirtualThreads {
  static volatile long sink;

  static long burnInVirtual(long rounds) {
    long x = rounds;
    for (long i = 0; i < rounds; i++) x = x * 31 + (i ^ (x >>> 5));
    return x;
  }

  static final class Cell { long a; }
  static final int CELLS = 1000;
  static volatile Cell last;

  static void virtualTask(long until) {
    for (int i = 0; i < CELLS; i++) last = new Cell();
    while (System.nanoTime() < until) {
      sink += burnInVirtual(2_000_000);
      Thread.yield();
      LockSupport.parkNanos(100_000);
    }
  }

  static void parkedVirtual(long until) {
    while (System.nanoTime() < until) LockSupport.parkNanos(until - System.nanoTime());
  }

  public static void main(String[] args) throws Exception {
    long until = System.nanoTime() + (args.length > 0 ? Long.parseLong(args[0]) : 5) * 1_000_000_000L;
    List<Future<?>> all = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 1000; i++) all.add(executor.submit(() -> parkedVirtual(until)));
      for (int i = 0; i < 8; i++) all.add(executor.submit(() -> virtualTask(until)));
      for (Future<?> f : all) f.get();
    }
    System.out.println("DONE");
  }
}
