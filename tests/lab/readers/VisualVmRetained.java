import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;

/**
 * What VisualVM's heap library makes of the objects whose ids stand on stdin: `id size retained`, or, with the argument way, `id steps`:
 * the references from the nearest GC root, or -1.
 */
public class VisualVmRetained {
    static final int MOST_STEPS = 1000000;

    static int steps(Instance instance) {
        int steps = 0;
        for (Instance at = instance; !at.isGCRoot(); steps++) {
            at = at.getNearestGCRootPointer();
            if (at == null || steps == MOST_STEPS) return -1;
        }
        return steps;
    }

    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out)));
        boolean way = arguments.length > 1;
        for (String line; (line = in.readLine()) != null; ) {
            Instance instance = heap.getInstanceByID(Long.parseUnsignedLong(line.trim(), 16));
            if (instance == null) continue;
            out.println(line + " " + (way ? steps(instance) : instance.getSize() + " " + instance.getRetainedSize()));
        }
        out.flush();
    }
}
