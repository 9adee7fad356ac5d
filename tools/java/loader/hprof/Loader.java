package hprof;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Unpacks the agent and bin/hprof of this jar for the machine that it runs on, into a folder of the user's cache:
 * {@code $XDG_CACHE_HOME/hprof} or {@code ~/.cache/hprof}, on Windows {@code %LOCALAPPDATA%\hprof}.
 *
 * <p>A folder is unpacked once, and checked each time. Processes that unpack it at the same time get the same files.
 */
public final class Loader {
    private static final String AGENTS = "/hprof/native/";
    private static final boolean IS_WINDOWS = property("os.name").startsWith("Windows");

    /** A file of the jar. */
    private static final class Entry {
        final String digest;
        final int size;
        final String path;

        Entry(String line) {
            String[] words = line.split(" ", 3);
            digest = words[0];
            size = Integer.parseInt(words[1]);
            path = words[2];
        }
    }

    private Loader() {}

    /**
     * The agent's library, as {@code -agentpath:} takes it.
     *
     * @throws IOException this jar has none for this machine, or the cache cannot be written; the message says which
     */
    public static Path agent() throws IOException {
        return unpacked(machine(), IS_WINDOWS ? "lib/hprof.dll" : "lib/libhprof.so");
    }

    /** The program bin/hprof. */
    public static Path tool() throws IOException {
        return unpacked(machine(), IS_WINDOWS ? "bin/hprof.exe" : "bin/hprof");
    }

    /** The name of this machine's folder in the jar. */
    static String machine() throws IOException {
        String name = property("os.arch").toLowerCase(Locale.ROOT);
        String processor = name.equals("amd64") || name.equals("x86_64") ? "x86_64"
                : name.equals("x86") || name.matches("i[3-6]86") ? "i386"
                : name.equals("arm") || name.equals("aarch32") ? "armhf"
                : name.equals("ppc64le") ? "ppc64el"
                : name;
        if (IS_WINDOWS) return "windows-" + processor;
        if (!property("os.name").equals("Linux")) throw new IOException("no agent for " + property("os.name") + " in this jar");
        return (isMusl() ? "linux-musl-" : "linux-") + processor;
    }

    private static String property(String name) {
        return System.getProperty(name, "");
    }

    /** Whether this VM has the C library musl. */
    private static boolean isMusl() {
        // Names of files need not be UTF-8.
        try (BufferedReader maps = Files.newBufferedReader(Paths.get("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            for (String line = maps.readLine(); line != null; line = maps.readLine()) {
                if (line.contains("/ld-musl-") || line.contains("/libc.musl-")) return true;
            }
        } catch (IOException unknown) {
            return false;
        }
        return false;
    }

    private static Path unpacked(String machine, String wanted) throws IOException {
        byte[] list = resource(machine + ".list");
        if (list == null) {
            byte[] machines = resource("machines");
            String known = machines == null ? "none" : new String(machines, StandardCharsets.UTF_8).trim().replace("\n", ", ");
            throw new IOException("no agent for " + machine + " in this jar, which has: " + known);
        }
        List<Entry> entries = new ArrayList<>();
        boolean isThere = false;
        for (String line : new String(list, StandardCharsets.UTF_8).split("\n")) {
            Entry entry = new Entry(line);
            entries.add(entry);
            isThere |= entry.path.equals(wanted);
        }
        if (!isThere) throw new IOException("no " + wanted + " for " + machine + " in this jar");
        return folder(cache(), machine, digest(list), entries).resolve(wanted);
    }

    private static Path cache() throws IOException {
        String named = System.getenv(IS_WINDOWS ? "LOCALAPPDATA" : "XDG_CACHE_HOME");
        Path parent = named != null && new File(named).isAbsolute() ? Paths.get(named)
                : Paths.get(property("user.home"), IS_WINDOWS ? "AppData\\Local" : ".cache");
        Path base = parent.resolve("hprof");
        try {
            Files.createDirectories(base);
            // Fails if it is another user's.
            if (!IS_WINDOWS) Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
            return base;
        } catch (IOException error) {
            throw new IOException("cannot use the folder " + base + (IS_WINDOWS ? "" : ", set XDG_CACHE_HOME to another one") + ": " + error);
        }
    }

    /** The folder with these files, whole; made by this process or by another one. */
    private static Path folder(Path base, String machine, String digest, List<Entry> entries) throws IOException {
        Path folder = base.resolve(machine + "-" + digest.substring(0, 16));
        if (isWhole(folder, entries)) return folder;
        Path fresh = Files.createTempDirectory(base, "new-");
        try {
            unpack(machine, entries, fresh);
            if (Files.exists(folder) && !isWhole(folder, entries)) discard(folder, base);
            // Fails if another process was faster.
            Files.move(fresh, folder, StandardCopyOption.ATOMIC_MOVE);
            return folder;
        } catch (IOException error) {
            if (isWhole(folder, entries)) return folder;
            throw error;
        } finally {
            delete(fresh);
        }
    }

    private static void discard(Path damaged, Path base) throws IOException {
        Path old = Files.createTempDirectory(base, "old-");
        try {
            Files.move(damaged, old.resolve("it"), StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException gone) {
            // Another process has done it.
        } finally {
            delete(old);
        }
    }

    private static void unpack(String machine, List<Entry> entries, Path folder) throws IOException {
        byte[] packed = resource(machine + ".lzma");
        byte[] all;
        try {
            all = Lzma.decode(packed, entries.stream().mapToInt(entry -> entry.size).sum());
        } catch (IndexOutOfBoundsException damaged) {
            throw new IOException("this jar is damaged: " + machine + ".lzma");
        }
        int begin = 0;
        for (Entry entry : entries) {
            byte[] bytes = Arrays.copyOfRange(all, begin, begin += entry.size);
            if (!digest(bytes).equals(entry.digest)) throw new IOException("this jar is damaged: " + entry.path + " of " + machine);
            Path file = folder.resolve(entry.path);
            Files.createDirectories(file.getParent());
            Files.write(file, bytes);
            if (!IS_WINDOWS) Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        }
    }

    private static boolean isWhole(Path folder, List<Entry> entries) {
        try {
            for (Entry entry : entries) {
                Path file = folder.resolve(entry.path);
                if (Files.size(file) != entry.size || !digest(Files.readAllBytes(file)).equals(entry.digest)) return false;
            }
            return true;
        } catch (IOException missing) {
            return false;
        }
    }

    private static void delete(Path path) {
        File[] files = path.toFile().listFiles();
        if (files != null) Arrays.stream(files).forEach(file -> delete(file.toPath()));
        path.toFile().delete();
    }

    /** A file of the jar; null: it has none of this name. */
    private static byte[] resource(String name) throws IOException {
        try (InputStream in = Loader.class.getResourceAsStream(AGENTS + name)) {
            if (in == null) return null;
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] block = new byte[65536];
            for (int count = in.read(block); count >= 0; count = in.read(block)) out.write(block, 0, count);
            return out.toByteArray();
        }
    }

    private static String digest(byte[] bytes) {
        try {
            return String.format("%064x", new BigInteger(1, MessageDigest.getInstance("SHA-256").digest(bytes)));
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
