import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A monitor that is held twice by main, wanted by two threads, and one that a thread waits for. With the argument `lock` a thread
 * is parked on a lock of main's, too, and one that sleeps has parked with its own lock as the blocker. Says `ready <pid>`; when
 * its stdin ends, all go on.
 */
public class Held {
    static class Quiet { }

    static final Quiet QUIET = new Quiet(); // held by main, wanted by nobody
    static final Object GATE = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final ReentrantLock OWN = new ReentrantLock();
    static final Object BELL = new Object();
    static volatile boolean stop;

    static void want() {
        synchronized (GATE) {
            GATE.hashCode();
        }
    }

    static void listen() {
        synchronized (BELL) {
            try {
                while (!stop) {
                    BELL.wait();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void sleep() {
        OWN.lock();
        while (!stop) {
            LockSupport.parkNanos(OWN, 100_000_000_000L);
        }
        OWN.unlock();
    }

    static void await(Thread thread, Thread.State state) throws Exception {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        Thread first;
        Thread second;
        Thread listener = start("listens", Held::listen);
        await(listener, Thread.State.WAITING);
        Thread parked = new Thread(LOCK::lock, "parked");
        Thread sleeper = new Thread(Held::sleep, "sleeps");
        if (arguments.length > 0) {
            LOCK.lock();
            parked.start();
            await(parked, Thread.State.WAITING);
            sleeper.start();
            await(sleeper, Thread.State.TIMED_WAITING);
        }
        synchronized (GATE) {
            synchronized (GATE) {
                first = start("wants-0", Held::want);
                second = start("wants-1", Held::want);
                await(first, Thread.State.BLOCKED);
                await(second, Thread.State.BLOCKED);
                synchronized (QUIET) {
                    System.out.println("ready " + Pid.own());
                    while (System.in.read() >= 0) {
                        continue;
                    }
                }
            }
        }
        if (arguments.length > 0) {
            LOCK.unlock();
        }
        parked.join();
        first.join();
        second.join();
        synchronized (BELL) {
            stop = true;
            BELL.notifyAll();
        }
        LockSupport.unpark(sleeper);
        sleeper.join();
        listener.join();
        System.out.println("ended");
    }
}
