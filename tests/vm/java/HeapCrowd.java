import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/** Heaps of extremes: dying N, virtual N, bytes N, references N; waits for its stdin to end. */
public class HeapCrowd {
    static final class Mark {
        long held = 0x5EC0DE5EC0DE77L;
    }

    static byte[] bytes;
    static Object[] references;
    static Mark mark = new Mark();
    static volatile boolean ends;
    static volatile Mark latest; // what goes through here is an object in compiled code, too

    /** N threads that live for a few milliseconds, at any time, until the end. */
    static void dying(int n) {
        Semaphore room = new Semaphore(n);
        Thread parent = new Thread(() -> {
            for (int i = 0; !ends; i++) {
                room.acquireUninterruptibly();
                new Thread(() -> {
                    Mark mine = new Mark();
                    try {
                        Thread.sleep(mine.held & 7);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    } finally {
                        room.release();
                    }
                }, "short-" + i).start();
            }
        });
        parent.setDaemon(true);
        parent.start();
    }

    /** N virtual threads that wait, each with a Mark on its stack. */
    static void virtual(int n) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        CountDownLatch waiting = new CountDownLatch(n);
        CountDownLatch never = new CountDownLatch(1);
        for (int i = 0; i < n; i++) {
            start.invoke(null, (Runnable) () -> {
                Mark mine = new Mark();
                latest = mine;
                waiting.countDown();
                try {
                    never.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                if (mine.held == 0) throw new IllegalStateException();
            });
        }
        waiting.await();
    }

    public static void main(String[] arguments) throws Exception {
        int n = Integer.parseInt(arguments[1]);
        switch (arguments[0]) {
            case "dying":
                dying(n);
                break;
            case "virtual":
                virtual(n);
                break;
            case "bytes":
                bytes = new byte[n];
                System.arraycopy("HuGe-begin".getBytes(), 0, bytes, 0, 10);
                System.arraycopy("HuGe-final".getBytes(), 0, bytes, n - 10, 10);
                break;
            case "references":
                references = new Object[n];
                references[0] = references[n / 2] = references[n - 1] = mark;
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
        ends = true;
        System.exit(0);
    }
}
