import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tasks for executors, a method for each way. Prints a line for each: the method, how many of its tasks have begun and how
 * many wait, the nanoseconds from before they were submitted until they had begun (0: not known), and the least that this can be.
 *
 * <pre>
 * Queues TASKS [virtual|attach]
 * </pre>
 */
public class Queues {
  static final long LEAST = 20_000_000;
  static int tasks;

  /** What a method has submitted. */
  static class Truth implements Runnable {
    final String method;
    final AtomicLong nanos = new AtomicLong();
    final AtomicInteger begun = new AtomicInteger();
    final CountDownLatch done;

    Truth(String method, int count) {
      this.method = method;
      done = new CountDownLatch(count);
    }

    /** A task; delay: until it is due. */
    Runnable task(long delay) {
      long since = System.nanoTime() + delay;
      return () -> begins(since);
    }

    void begins(long since) {
      nanos.addAndGet(System.nanoTime() - since);
      begun.incrementAndGet();
      done.countDown();
    }

    /** Of one task that is submitted again and again. */
    @Override
    public void run() {
      begun.incrementAndGet();
      done.countDown();
    }

    void print(int waiting, long least) {
      System.out.println(method + " " + begun + " " + waiting + " " + nanos + " " + least);
    }
  }

  static int gates;

  /** Keeps an executor of one thread busy until the answer is opened. */
  static CountDownLatch close(Executor executor) {
    CountDownLatch open = new CountDownLatch(1);
    gates++;
    executor.execute(() -> {
      try {
        open.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    });
    return open;
  }

  static void open(CountDownLatch gate, Truth truth) throws Exception {
    Thread.sleep(LEAST / 1_000_000);
    gate.countDown();
    truth.done.await();
  }

  static volatile Thread pooled;

  static ThreadPoolExecutor pool(int room) {
    ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.DAYS, new ArrayBlockingQueue<Runnable>(room),
        r -> pooled = new Thread(r, "pooled-7"));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  static void pooled(ThreadPoolExecutor pool) throws Exception {
    Truth truth = new Truth("pooled", tasks);
    CountDownLatch gate = close(pool);
    for (int i = 0; i < tasks; i++) {
      if (i % 2 == 0) {
        pool.execute(truth.task(0));
      } else {
        pool.submit(truth.task(0));
      }
    }
    open(gate, truth);
    truth.print(0, tasks * LEAST);
  }

  /** Its thread waited for the task when the agent came. */
  static void idle(ThreadPoolExecutor pool) throws Exception {
    Truth truth = new Truth("idle", 1);
    pool.execute(truth.task(0));
    truth.done.await();
    truth.print(0, 0);
  }

  static void same(ThreadPoolExecutor pool) throws Exception {
    Truth truth = new Truth("same", tasks);
    for (int i = 0; i < tasks; i++) pool.execute(truth);
    truth.done.await();
    truth.print(0, 0);
  }

  /** One is removed, one waits until the end, and the others are rejected. */
  static void refused() throws Exception {
    ThreadPoolExecutor pool = pool(2);
    pool.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    Truth truth = new Truth("refused", 0);
    close(pool);
    Runnable removed = truth.task(0);
    pool.execute(removed);
    for (int i = 0; i < tasks; i++) pool.execute(truth.task(0));
    if (!pool.remove(removed)) throw new IllegalStateException();
    truth.print(1, 0);
  }

  static void scheduled() throws Exception {
    ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1);
    Truth truth = new Truth("scheduled", tasks);
    CountDownLatch gate = close(pool);
    for (int i = 0; i < tasks; i++) pool.schedule(truth.task(5_000_000), 5, TimeUnit.MILLISECONDS);
    open(gate, truth);
    truth.print(0, tasks * (LEAST - 10_000_000));
    pool.shutdown();
  }

  static void periodic() throws Exception {
    ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1);
    pool.setRemoveOnCancelPolicy(true);
    Truth truth = new Truth("periodic", 0);
    CountDownLatch enough = new CountDownLatch(1);
    ScheduledFuture<?>[] self = new ScheduledFuture<?>[1];
    CountDownLatch known = new CountDownLatch(1);
    self[0] = pool.scheduleAtFixedRate(() -> {
      if (truth.begun.incrementAndGet() < 20) return;
      try {
        known.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      self[0].cancel(false);
      enough.countDown();
    }, 1, 1, TimeUnit.MILLISECONDS);
    known.countDown();
    enough.await();
    truth.print(0, 0);
    pool.shutdown();
  }

  static void forked() throws Exception {
    ForkJoinPool pool = new ForkJoinPool(1);
    Truth truth = new Truth("forked", tasks);
    CountDownLatch gate = close(pool);
    for (int i = 0; i < tasks; i++) {
      if (i % 3 == 0) {
        pool.execute(truth.task(0));
      } else if (i % 3 == 1) {
        pool.submit(ForkJoinTask.adapt(truth.task(0)));
      } else {
        CompletableFuture.runAsync(truth.task(0), pool);
      }
    }
    open(gate, truth);
    truth.print(0, tasks * LEAST);
    pool.shutdown();
  }

  static void virtual() throws Exception {
    Truth truth = new Truth("virtual", tasks);
    ExecutorService executor =
        (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    for (int i = 0; i < tasks; i++) executor.execute(truth.task(0));
    executor.shutdown();
    executor.awaitTermination(1, TimeUnit.DAYS);
    truth.print(0, 0);
  }

  public static void main(String[] args) throws Exception {
    tasks = Integer.parseInt(args[0]);
    ThreadPoolExecutor pool = pool(tasks + 1);
    if (args.length > 1 && args[1].equals("attach")) {
      pool.prestartCoreThread();
      while (pooled == null || pooled.getState() != Thread.State.TIMED_WAITING) Thread.sleep(1);
      System.out.println("ready " + Pid.own());
      System.in.read();
      idle(pool);
    }
    pooled(pool);
    same(pool);
    pool.shutdown();
    refused();
    scheduled();
    periodic();
    forked();
    if (args.length > 1 && args[1].equals("virtual")) virtual();
    System.out.println("close " + gates + " 0 0 0");
    System.exit(0);
  }
}
