import java.lang.ref.WeakReference;

/**
 * `Odd name` starts a thread whose name has quotes and a line end. `Odd unload` drops a class with its loader and prints what
 * became of it.
 */
public class Odd {
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("name")) {
            Thread odd = new Thread(() -> { }, "a \"quote\"\nTHREAD END (id = 7)");
            odd.start();
            odd.join();
            return;
        }
        WeakReference<?> dropped = new WeakReference<>(Unloads.work().getClass());
        for (int i = 0; i < 5; i++) System.gc();
        System.out.println(dropped.get() == null ? "unloaded" : "kept");
    }
}
