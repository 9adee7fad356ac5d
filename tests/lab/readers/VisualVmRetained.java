import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import org.graalvm.visualvm.lib.jfluid.heap.GCRoot;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;

/**
 * What VisualVM's heap library makes of the objects whose ids stand on stdin: `id size retained steps root class`; steps are the
 * references from the nearest GC root, or `none`; root is `local` where that is a variable of a stack, else `other`.
 */
public class VisualVmRetained {
    static final int MOST_STEPS = 1000000;

    static String steps(Heap heap, Instance instance) {
        int steps = 0;
        Instance at = instance;
        for (; !at.isGCRoot(); steps++) {
            at = at.getNearestGCRootPointer();
            if (at == null || steps == MOST_STEPS) return "none other";
        }
        for (Object root : (java.util.Collection<?>) heap.getGCRoots()) {
            GCRoot each = (GCRoot) root;
            boolean local = each.getKind().equals(GCRoot.JAVA_FRAME) || each.getKind().equals(GCRoot.JNI_LOCAL);
            if (local && at.equals(each.getInstance())) return steps + " local";
        }
        return steps + " other";
    }

    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            Instance instance = heap.getInstanceByID(Long.parseUnsignedLong(line.trim(), 16));
            if (instance == null) continue;
            System.out.println(line + " " + instance.getSize() + " " + instance.getRetainedSize() + " " + steps(heap, instance) + " "
                + instance.getJavaClass().getName());
        }
    }
}
