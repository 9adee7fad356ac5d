import hprof.Loader;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.IterationType;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The profiler of JMH's {@code -prof hprof}: objects, bytes and calls per operation, exact, and where they are made; it counts
 * measurement iterations alone. {@code -prof "hprof:MODE;NAME=VALUE;..."} takes
 *
 * <ul>
 * <li>modes: {@code sites} (objects and bytes), {@code calls}, {@code times} (calls and their stacks), {@code samples}; default
 * {@code sites;calls}
 * <li>{@code agent=LIBRARY}: the agent, with bin/hprof in ../bin; default those of the jar
 * <li>{@code dir=FOLDER}: writes a flame graph of each benchmark there
 * <li>{@code top=N}: rows of each table, default 10
 * <li>other options of the agent, as {@code include=com.acme.*}
 * </ul>
 */
public final class hprof implements ExternalProfiler, InternalProfiler {
    // The forked VM's properties: the agent's socket, and the program that sends it commands.
    private static final String CONTROL = "hprof.jmh.control";
    private static final String TOOL = "hprof.jmh.tool";

    private static final List<String> OWN = Arrays.asList("command", "control", "doe", "file", "format", "listen", "net", "start", "url");

    // Options of the agent.
    private static final String SITES = "heap=sites,sites=exact,sites-live=n";
    private static final String CALLS = "calls=y";
    private static final String TIMES = "cpu=times";
    private static final String SAMPLES = "cpu=samples";

    private final List<String> modes = new ArrayList<>();
    private final List<String> options = new ArrayList<>();
    private final Path agent;
    private final Path tool;
    private Path results;
    private int top = 10;
    private Path folder;
    private int fork;
    private int measured;

    public hprof() throws ProfilerException {
        this("");
    }

    public hprof(String line) throws ProfilerException {
        String library = null;
        for (String word : line.split(";")) {
            if (word.isEmpty()) continue;
            int at = word.indexOf('=');
            String name = at < 0 ? word : word.substring(0, at);
            String value = at < 0 ? "" : word.substring(at + 1);
            if (at < 0) {
                modes.add(mode(name));
            } else if (name.equals("agent")) {
                library = value;
            } else if (name.equals("dir")) {
                results = Paths.get(value);
            } else if (name.equals("top")) {
                top = number(value);
            } else if (OWN.contains(name)) {
                throw new ProfilerException("hprof: " + name + "= is given by the profiler");
            } else {
                options.add(word);
            }
        }
        if (modes.contains(CALLS) && modes.contains(TIMES)) throw new ProfilerException("hprof: times counts the calls: without calls");
        if (modes.isEmpty()) Collections.addAll(modes, SITES, CALLS);
        try {
            agent = library == null ? Loader.agent() : Paths.get(library).toRealPath();
            boolean isExe = agent.toString().endsWith(".dll");
            tool = library == null ? Loader.tool() : agent.resolveSibling(isExe ? "../bin/hprof.exe" : "../bin/hprof").toRealPath();
        } catch (IOException error) {
            throw new ProfilerException("hprof: " + error.getMessage());
        }
    }

    private static int number(String value) throws ProfilerException {
        if (!value.matches("[0-9]{1,6}")) throw new ProfilerException("hprof: top=" + value + " is no number");
        return Integer.parseInt(value);
    }

    private static String mode(String name) throws ProfilerException {
        switch (name) {
            case "sites": return SITES;
            case "calls": return CALLS;
            case "times": return TIMES;
            case "samples": return SAMPLES;
            default: throw new ProfilerException("hprof: no mode " + name + "; there are: sites, calls, times, samples");
        }
    }

    @Override
    public String getDescription() {
        return "objects, bytes and calls per operation, exact, and where they are made (hprof)";
    }

    // In the VM that forks others.

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        try {
            if (folder == null) folder = Files.createTempDirectory("hprof");
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        for (Path path : Arrays.asList(folder, report(), control())) path.toFile().deleteOnExit();
        List<String> all = new ArrayList<>(modes);
        all.addAll(Arrays.asList("start=n", "control=" + control(), "file=" + report(), "doe=n", "verbose=n", "cutoff=0", "thread=y"));
        if (!isGiven("depth")) all.add("depth=" + (results == null ? 8 : 128));
        // With a probe in it a Blackhole is none to the compiler.
        if (!isGiven("exclude") && (modes.contains(CALLS) || modes.contains(TIMES))) all.add("exclude=org.openjdk.jmh.*");
        all.addAll(options);
        return Arrays.asList("-agentpath:" + agent + "=" + String.join(",", all), "-D" + CONTROL + "=" + control(), "-D" + TOOL + "=" + tool);
    }

    private boolean isGiven(String name) {
        return options.stream().anyMatch(option -> option.startsWith(name + "="));
    }

    private Path report() {
        return folder.resolve("report.txt");
    }

    private Path control() {
        return folder.resolve("control");
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
        report().toFile().delete();
    }

    @Override
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        List<Result> all = new ArrayList<>();
        try {
            String report = report().toString();
            long operations = 0;
            for (IterationResult iteration : result.getIterationResults()) operations += iteration.getMetadata().getAllOps();
            boolean isCounted = !modes.equals(Collections.singletonList(SAMPLES));
            Map<String, Long> sums = isCounted ? sums(ask("print", "--csv", "--by-method", report)) : new LinkedHashMap<>();
            if (isCounted) ofOthers(report).forEach((name, sum) -> sums.merge(name, -sum, Long::sum));
            for (Map.Entry<String, Long> sum : sums.entrySet()) {
                all.add(new ScalarResult("hprof." + sum.getKey() + ".norm", operations == 0 ? Double.NaN : 1.0 * sum.getValue() / operations,
                        sum.getKey().equals("bytes") ? "B/op" : "#/op", AggregationPolicy.AVG));
            }
            String text = ask("print", "--top=" + top, report);
            if (results != null) text += "\nflame graph: " + flameGraph(result.getParams(), report) + "\n";
            all.add(new TextResult(text, "hprof"));
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        } finally {
            fork++;
            report().toFile().delete();
        }
        return all;
    }

    /** The sum of each column with numbers; what the agent did not count has none. */
    private static Map<String, Long> sums(String csv) throws IOException {
        Map<String, Long> sums = new LinkedHashMap<>();
        String[] lines = csv.split("\n");
        String[] names = lines[0].split(",");
        for (String line : Arrays.asList(lines).subList(1, lines.length)) {
            // Names of methods and classes may have commas, in quotes: the numbers are at the end.
            String[] cells = line.split(",", -1);
            for (int back = 1; back <= names.length && !names[names.length - back].equals("class"); back++) {
                String cell = cells[cells.length - back];
                if (!cell.isEmpty()) sums.merge(names[names.length - back], Long.parseLong(cell), Long::sum);
            }
        }
        return sums;
    }

    /** What JMH and this profiler do between and beside the operations. */
    private Map<String, Long> ofOthers(String report) throws InterruptedException {
        try {
            return sums(ask("print", "--csv", "--by-method", "--thread=main,process reaper*", report));
        } catch (IOException none) {
            // The report has been read before: there is nothing of these threads in it.
            return Collections.emptyMap();
        }
    }

    private Path flameGraph(BenchmarkParams params, String report) throws IOException, InterruptedException {
        Files.createDirectories(results);
        String name = params.id().replaceAll("[^\\w.=-]", "_") + (fork == 0 ? "" : "-" + (fork + 1)) + ".html";
        Path page = results.resolve(name);
        ask("view", "--force", "-o", page.toString(), report);
        return page;
    }

    private String ask(String... arguments) throws IOException, InterruptedException {
        return run(tool.toString(), arguments);
    }

    /** What the tool prints. */
    private static String run(String tool, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(tool);
        Collections.addAll(command, arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InputStream in = process.getInputStream()) {
            byte[] block = new byte[8192];
            for (int count = in.read(block); count >= 0; count = in.read(block)) out.write(block, 0, count);
        }
        String text = out.toString("UTF-8");
        if (process.waitFor() != 0) throw new IOException(String.join(" ", command) + ": " + text);
        return text;
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    // In a forked VM.

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() == IterationType.MEASUREMENT) command("start");
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        if (iteration.getType() == IterationType.MEASUREMENT) {
            command("stop");
            // While the threads have their names.
            if (++measured == iteration.getCount()) command("report");
        }
        return Collections.emptyList();
    }

    private static void command(String command) {
        String control = System.getProperty(CONTROL);
        if (control == null) throw new IllegalStateException("hprof: the agent needs a VM of its own: not with -f 0");
        try {
            run(System.getProperty(TOOL), "ctl", control, command);
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
