import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A virtual thread sleeps, and then a pool computes: the pool's classes are loaded while the virtual thread is parked with a timeout.
 * JDK 21 reports none of them to JVMTI.
 */
public class PoolAfterSleep {
  static double sum;

  static void compute() {
    for (long end = System.nanoTime() + 1000000000L; System.nanoTime() < end; ) sum += Math.sqrt(sum);
  }

  public static void main(String[] args) throws Exception {
    Thread sleeper = Thread.ofVirtual().start(() -> {
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    });
    sleeper.join();
    ExecutorService pool = Executors.newFixedThreadPool(1);
    pool.submit(PoolAfterSleep::compute).get();
    pool.shutdown();
  }
}
