// Nearly all of the CPU time, as many seconds as the argument says, in a call below a compiled frame that waits for deoptimization:
// the call has loaded a class by which a method that the frame's code takes for the only one is no longer so.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Deoptimized {
  static class First {
    int value() {
      return 1;
    }
  }

  static class Second extends First {
    @Override
    int value() {
      return 2;
    }
  }

  static volatile long sink;

  static void burn(long nanoseconds) {
    final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    for (long end = clock.getCurrentThreadCpuTime() + nanoseconds; clock.getCurrentThreadCpuTime() < end; ) {
      for (int i = 0; i < 100000; i++) sink += i % 7;
    }
  }

  static void called(long nanoseconds) throws ReflectiveOperationException {
    if (nanoseconds == 0) return;
    Class.forName("Deoptimized$Second");
    burn(nanoseconds);
  }

  static void waits(First first, long nanoseconds) throws ReflectiveOperationException {
    called(nanoseconds);
    sink += first.value();
  }

  public static void main(String[] args) throws ReflectiveOperationException {
    final First first = new First();
    for (int i = 0; i < 100000; i++) waits(first, 0);
    waits(first, (long) (Double.parseDouble(args[0]) * 1e9));
  }
}
