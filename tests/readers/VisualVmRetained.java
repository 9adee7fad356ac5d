import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;

/** What VisualVM's heap library makes of the objects whose ids stand on stdin: `id size retained next-to-root class`. */
public class VisualVmRetained {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            Instance instance = heap.getInstanceByID(Long.parseUnsignedLong(line.trim(), 16));
            if (instance == null) continue;
            Instance next = instance.getNearestGCRootPointer();
            System.out.println(line + " " + instance.getSize() + " " + instance.getRetainedSize() + " "
                + (next == null ? "none" : Long.toHexString(next.getInstanceId())) + " " + instance.getJavaClass().getName());
        }
    }
}
