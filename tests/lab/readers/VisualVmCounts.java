import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;

/** Prints what VisualVM's heap library finds in a dump: `count class` of each class that has instances. */
public class VisualVmCounts {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        Map<String, Long> counts = new TreeMap<>();
        for (JavaClass each : heap.getAllClasses()) {
            counts.merge(each.getName(), (long) each.getInstancesCount(), Long::sum);
        }
        System.out.println(heap.getSummary().getTotalLiveInstances() + " total");
        System.out.println(heap.getGCRoots().size() + " roots");
        counts.forEach((name, count) -> {
            if (count != 0) System.out.println(count + " " + name);
        });
    }
}
