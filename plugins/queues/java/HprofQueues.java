package java.lang;

/** The targets of the probes of queues=y: a task is given to an executor, or begins. */
public final class HprofQueues {
  // As in collector.h.
  private static final int EXECUTE = 1, SCHEDULE = 2, FORK = 3, VIRTUAL = 4, WORKER = 5, TAKE = 6, REMOVE = 7, REJECT = 8,
      START = 9, FORKED = 10, CONTINUE = 11, BEFORE = 12;

  /** Set while queues are watched. */
  static boolean live;

  /** The executor of virtual threads, once one was submitted: their tasks are known by the threads. */
  static Object scheduler;

  /** Of threads that run virtual ones; set after `scheduler`. */
  static volatile Class<?> carrier;

  private HprofQueues() {}

  /** Of the constructor of a ThreadPoolExecutor's worker, of getTask and of remove, result() gets what this returns. */
  public static long arguments(int kind, Object self, Object first, Object last, long firstValue, long lastValue) {
    if (!live) return 0;
    switch (kind) {
      case EXECUTE:
      case SCHEDULE:
        submit(kind, self, System.identityHashCode(self), first, System.identityHashCode(first), System.nanoTime());
        return 0;
      case FORK:
        if (self == scheduler) return 0;
        submit(kind, self, System.identityHashCode(self), last, System.identityHashCode(last), System.nanoTime());
        return 0;
      case VIRTUAL:
        if (carrier == null) findScheduler(self);
        submit(Thread.currentThread().getClass() == carrier ? 0 : kind, self, 0, self, System.identityHashCode(self),
            System.nanoTime());
        return 0;
      case START:
        begin(System.identityHashCode(first), System.nanoTime());
        return 0;
      case FORKED:
        if (carrier != null && Thread.currentThread().getClass() == carrier) return 0;
        begin(System.identityHashCode(self), System.nanoTime());
        return 0;
      case CONTINUE:
        begin(System.identityHashCode(self), System.nanoTime());
        return 0;
      case BEFORE:
        confirm(System.identityHashCode(last), System.nanoTime());
        return 0;
      case REJECT:
        drop(System.identityHashCode(first), true);
        return 0;
      case TAKE:
        return (long) kind << 32;
      case WORKER:
        return (long) kind << 32 | System.identityHashCode(last);
      case REMOVE:
        return (long) kind << 32 | System.identityHashCode(first);
      default:
        return 0;
    }
  }

  public static void result(long call, Object result, long value) {
    if (call == 0) return;
    switch ((int) (call >>> 32)) {
      case TAKE:
        begin(System.identityHashCode(result), System.nanoTime());
        break;
      case WORKER:
        rename((int) call, System.identityHashCode(result));
        break;
      default:
        if (value != 0) drop((int) call, false);
    }
  }

  private static native void submit(int kind, Object executor, int hash, Object task, int taskHash, long now);

  private static native void begin(int taskHash, long now);

  private static native void confirm(int taskHash, long now);

  private static native void rename(int taskHash, int newHash);

  private static native void drop(int taskHash, boolean last);

  private static native void findScheduler(Object thread);
}
