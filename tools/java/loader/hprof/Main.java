package hprof;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** {@code java -jar hprof.jar}: the path of the agent, or a command of bin/hprof. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws InterruptedException {
        try {
            if (arguments.length == 0) {
                System.err.println("usage: java -jar hprof.jar agentpath      the path of the agent, unpacked for this machine\n"
                        + "       java -jar hprof.jar COMMAND...     a command of bin/hprof; help lists them");
                System.exit(2);
            } else if (arguments[0].equals("agentpath")) {
                System.out.println(Loader.agent());
            } else {
                System.exit(run(arguments));
            }
        } catch (IOException error) {
            System.err.println("hprof.jar: " + error.getMessage());
            System.exit(2);
        }
    }

    private static int run(String[] arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Loader.tool().toString());
        command.addAll(Arrays.asList(arguments));
        Process process = new ProcessBuilder(command).inheritIO().start();
        // Ctrl-C reaches both: the command ends in its own way, as `hprof profile` does by writing the report.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                process.waitFor();
            } catch (InterruptedException ignored) {
                // The VM ends.
            }
        }));
        return process.waitFor();
    }
}
