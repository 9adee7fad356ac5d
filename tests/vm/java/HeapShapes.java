import java.util.ArrayList;
import java.util.List;

/** A heap of known shapes: every type as field, static and array; null and long arrays; interfaces with fields. */
public class HeapShapes {
    interface WithFields {
        String NAME = new String("interface field");
        int NUMBER = Integer.parseInt("77");
    }

    interface Sub extends WithFields {
        Object LOCK = new Object();
    }

    static class Base implements WithFields {
        static String baseStatic = new String("base static");
        byte b = 0x12;
        String text = new String("base text");
        long secretLong = 0x5EC0DE5EC0DE77L;
    }

    static class Leaf extends Base implements Sub {
        static final long LEAF_STATIC = Long.parseLong("81985529216486895");
        static Leaf self;
        boolean z = true;
        char c = '\u1234';
        short s = -2;
        int i = 0x01020304;
        float f = 1.5f;
        double d = -2.25;
        Leaf next;
        Object nothing;
    }

    static Object[] holes = new Object[200000];
    static int[] ints = {1, 2, 3, 0x7fffffff};
    static byte[] noBytes = new byte[0];
    static Object[] noObjects = new Object[0];
    static Leaf[][] grid = new Leaf[3][2];
    static char[] chars = "SeCrEt-char".toCharArray();
    static byte[] bytes = "SeCrEt-byte".getBytes();
    static long[] longs = {0x5EC0DE5EC0DE77L};
    static List<Leaf> leaves = new ArrayList<>();
    static List<String> strings = new ArrayList<>();
    static Class<?> primitive = int.class;

    public static void main(String[] arguments) throws Exception {
        for (int n = 0; n < 1234; n++) {
            Leaf leaf = new Leaf();
            leaf.next = Leaf.self;
            Leaf.self = leaf;
            leaves.add(leaf);
        }
        holes[0] = leaves;
        holes[65535] = ints;
        holes[65536] = longs;
        holes[199998] = bytes;
        grid[2][1] = Leaf.self;
        String mark = arguments.length > 0 ? arguments[0] : "none";
        strings.add("SeCrEt-latin-" + mark);
        strings.add("SeCrEt-utf16-\u2603-" + mark);
        strings.add(String.valueOf(new StringBuilder("SeCrEt-builder-").append(mark)));
        System.setProperty("secret.property", "SeCrEt-property-" + mark);
        Thread named = new Thread(() -> {
            synchronized (holes) {
                Leaf onStack = Leaf.self;
                try {
                    Thread.sleep(600000);
                } catch (InterruptedException e) {
                    System.out.println(onStack.i);
                }
            }
        }, "SeCrEt-thread-" + mark);
        named.setDaemon(true);
        named.start();
        while (named.getState() != Thread.State.TIMED_WAITING) Thread.sleep(1);
        if (arguments.length < 2) return;
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
