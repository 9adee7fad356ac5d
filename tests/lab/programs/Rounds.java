import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/**
 * The frame of the programs of tests/lab/beyond: "ready PID", then for each line read a round, and "did". On standard error what the
 * system and the VM's beans say of each round: "truth NAME NUMBER".
 */
abstract class Rounds {
    /** What the caller makes and catches itself, 10 in each round. */
    static final class Planted extends Exception {
        private static final long serialVersionUID = 1;
    }

    abstract void start() throws Exception;
    abstract void round() throws Exception;
    abstract void stop() throws Exception;

    /** Bytes that the process has read and written, as the system counts them. */
    private static long[] bytes() throws IOException {
        byte[] text = new byte[4096];
        try (FileInputStream in = new FileInputStream("/proc/self/io")) {
            String[] words = new String(text, 0, in.read(text)).split("\\s+");
            return new long[] {Long.parseLong(words[1]), Long.parseLong(words[3])};
        }
    }

    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long loaded() {
        return ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
    }

    private static void say(String name, long number) {
        System.err.println("truth " + name + " " + number);
    }

    private static void plant() {
        for (int i = 0; i < 10; i++) {
            try {
                throw new Planted();
            } catch (Planted expected) {
                continue;
            }
        }
    }

    void run() throws Exception {
        start();
        System.out.println("ready " + Pid.own());
        for (int line = System.in.read(); line >= 0; line = System.in.read()) {
            long classes = loaded(), cpu = cpu(), time = System.nanoTime();
            long[] before = bytes();
            round();
            plant();
            long[] after = bytes();
            say("ns", System.nanoTime() - time);
            say("cpu", cpu() - cpu);
            say("read", after[0] - before[0]);
            say("written", after[1] - before[1]);
            say("classes", loaded() - classes);
            for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
                if (pool.getName().equals("direct")) say("direct", pool.getMemoryUsed());
            }
            System.out.println("did");
        }
        stop();
        say("all", cpu());
        System.out.println("ended");
    }
}
