import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** Prints the samples of a JFR file, equal ones together: number, thread, frames from the innermost on, each Class.method:line; separated by tabs. */
public class JfrStacks {
    public static void main(String[] arguments) throws Exception {
        Map<String, Long> counts = new LinkedHashMap<>();
        try (RecordingFile file = new RecordingFile(Paths.get(arguments[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                String type = event.getEventType().getName();
                boolean isCpuTime = type.equals("jdk.CPUTimeSample");
                if (!isCpuTime && !type.equals("jdk.ExecutionSample")) continue;
                RecordedThread thread = event.getThread(isCpuTime ? "eventThread" : "sampledThread");
                String name = thread == null ? "" : thread.getJavaName() != null ? thread.getJavaName() : thread.getOSName();
                StringBuilder line = new StringBuilder(name);
                List<RecordedFrame> frames = event.getStackTrace() == null ? List.of() : event.getStackTrace().getFrames();
                for (RecordedFrame frame : frames) {
                    line.append('\t').append(frame.getMethod().getType().getName()).append('.').append(frame.getMethod().getName())
                        .append(':').append(frame.getLineNumber());
                }
                counts.merge(line.toString(), 1L, Long::sum);
            }
        }
        counts.forEach((line, count) -> System.out.println(count + "\t" + line));
    }
}
