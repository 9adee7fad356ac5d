import java.util.HashMap;
import java.util.Map;

/** About 1 GiB in 13 million objects: maps, lists, strings and small arrays. BigHeap [scale [wait]] */
public class BigHeap {
    static final class Node {
        Node left, right;
        Object payload;
        int key;
        long stamp;

        Node(int key) {
            this.key = key;
            this.stamp = key * 31L;
        }
    }

    static Object[] keep;

    public static void main(String[] arguments) throws Exception {
        double scale = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 1;
        int groups = (int) (930 * scale);
        keep = new Object[groups];
        for (int g = 0; g < groups; g++) {
            Object[] group = new Object[1000];
            for (int i = 0; i < group.length; i++) {
                Node node = new Node(g * 1000 + i);
                node.left = new Node(i);
                node.right = new Node(-i);
                node.left.left = new Node(1);
                node.left.payload = "value-" + g + "-" + i;
                node.right.payload = Long.valueOf(1L << 40 | i);
                node.right.right = new Node(3);
                node.payload = new Object[] {node.left.left, node.left.payload, null, new int[100]};
                if (i % 10 == 0) {
                    Map<Integer, Object> map = new HashMap<>();
                    for (int k = 0; k < 12; k++) map.put(1000 + k, new byte[200]);
                    node.right.left = new Node(7);
                    node.right.left.payload = map;
                }
                group[i] = node;
            }
            keep[g] = group;
        }
        if (arguments.length < 2) return;
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
