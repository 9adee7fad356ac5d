/**
 * Calls of two methods that call both of them, so that each call has a trace of its own: `calls` levels deep, as often as
 * the second argument says, each time on a thread of its own. Prints the number of calls of the two.
 */
public class ManyTraces extends Thread {
  private static int made;
  private final int levels;

  private ManyTraces(int levels) {
    this.levels = levels;
  }

  @Override
  public void run() {
    left(levels);
  }

  private static void left(int level) {
    made++;
    if (level == 0) return;
    left(level - 1);
    right(level - 1);
  }

  private static void right(int level) {
    made++;
    if (level == 0) return;
    left(level - 1);
    right(level - 1);
  }

  public static void main(String[] args) throws InterruptedException {
    int levels = Integer.parseInt(args[0]);
    int threads = Integer.parseInt(args[1]);
    for (int i = 0; i < threads; i++) {
      Thread thread = new ManyTraces(levels);
      thread.start();
      thread.join();
    }
    System.out.println(made);
  }
}
