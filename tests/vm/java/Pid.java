import java.io.File;
import java.io.IOException;

/** The id of this process, by which its system knows it. */
final class Pid {
    private Pid() {}

    static String own() throws IOException {
        if (!System.getProperty("os.name").startsWith("Windows")) {
            // The one way that Java 8 has, too.
            return new File("/proc/self").getCanonicalFile().getName();
        }
        // By name, as Java 8 has no such class.
        try {
            Class<?> handle = Class.forName("java.lang.ProcessHandle");
            return handle.getMethod("pid").invoke(handle.getMethod("current").invoke(null)).toString();
        } catch (ReflectiveOperationException missing) {
            throw new IOException(missing);
        }
    }
}
