import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A collection of each class of java.util and java.util.concurrent, with the elements "element0" to "element2", or
 * "key0" to "key2" with "value0" to "value2". Says `ready <pid>` and stays until its stdin ends.
 */
public class HeapCollections {
    enum Few { ELEMENT0, ELEMENT1, ELEMENT2, OTHER }

    /** Has more constants than a long has bits. */
    enum Many {
        A0, A1, A2, A3, A4, A5, A6, A7, B0, B1, B2, B3, B4, B5, B6, B7, C0, C1, C2, C3, C4, C5, C6, C7, D0, D1, D2, D3, D4, D5, D6, D7,
        E0, E1, E2, E3, E4, E5, E6, E7, F0, F1, F2, F3, F4, F5, F6, F7, G0, G1, G2, G3, G4, G5, G6, G7, H0, H1, H2, H3, H4, H5, H6, H7,
        ELEMENT0, ELEMENT1, ELEMENT2
    }

    /** Has fields of the names that its superclass's have. */
    static final class Shadowing extends ArrayList<Object> {
        final int size = 7;
        final Object[] elementData = {"wrong"};
    }

    static final class Later implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(1, TimeUnit.DAYS);
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }

    /** Shows the elements of another one, has never three, or is a preview. */
    static final String OTHERS =
            "java.util.(RandomAccess)?SubList|.*\\$(\\w*SubList|\\w*[Ss]ub[Mm]ap|Subset|KeySet|Values(View)?|\\w*EntrySet(View)?)"
            + "|.*[.$]Reverse\\w+(\\$.*)?|java.util.Collections\\$(.*\\$)?Empty\\w+|.*SynchronousQueue(\\$Transferer)?"
            + "|java.util.LazyCollections\\$(?!LazyList$).*|java.util.ImmutableCollections\\$Stable.*";

    static final class Made {
        final Object collection;

        Made(Object collection) {
            this.collection = collection;
        }
    }

    static final String[] KEYS = {"key0", "key1", "key2"};  // holds those of weak maps
    static final List<Object> all = new ArrayList<>();
    static Made[] made;
    static String missing;

    static <T extends Collection<Object>> T filled(T collection) {
        for (int i = 0; i < 3; i++) collection.add("element" + i);
        return collection;
    }

    static <T extends Map<Object, Object>> T filled(T map) {
        for (int i = 0; i < 3; i++) map.put(KEYS[i], "value" + i);
        return map;
    }

    static Object argument(Class<?> type, boolean linked) {
        if (type == Class.class) return String.class;
        if (type == Collection.class || type == List.class) return linked ? filled(new LinkedList<>()) : filled(new ArrayList<>());
        if (type == Queue.class) return filled(new ArrayDeque<>());
        if (type.isAssignableFrom(LinkedHashSet.class)) return filled(new LinkedHashSet<>());
        if (type.isAssignableFrom(TreeSet.class)) return filled(new TreeSet<>());
        if (type.isAssignableFrom(LinkedHashMap.class)) return filled(new LinkedHashMap<>());
        if (type.isAssignableFrom(TreeMap.class)) return filled(new TreeMap<>());
        throw new IllegalArgumentException(type.getName());
    }

    /** What the methods of Collections with these names make of others. */
    static void addWrappers() throws Exception {
        for (Method method : Collections.class.getMethods()) {
            if (!method.getName().matches("(unmodifiable|synchronized|checked)[A-Z].*")) continue;
            for (boolean linked : new boolean[] {false, true}) {
                Object[] arguments = new Object[method.getParameterCount()];
                for (int i = 0; i < arguments.length; i++) arguments[i] = argument(method.getParameterTypes()[i], linked);
                all.add(method.invoke(null, arguments));
            }
        }
        all.add(filled(Collections.newSetFromMap(new HashMap<>())));
        all.add(Collections.asLifoQueue(filled(new ArrayDeque<>())));
    }

    /** Adds what a static method returns; nothing where a JDK has no such method. */
    static void addNewer(Class<?> owner, String name, Class<?>[] parameters, Object... arguments) throws Exception {
        try {
            all.add(owner.getMethod(name, parameters).invoke(null, arguments));
        } catch (NoSuchMethodException e) {
            return;
        }
    }

    static Class<?>[] objects(int count) {
        Class<?>[] classes = new Class<?>[count];
        Arrays.fill(classes, Object.class);
        return classes;
    }

    static void addNewer() throws Exception {
        Object[] elements = {"element0", "element1", "element2"};
        for (Class<?> owner : new Class<?>[] {List.class, Set.class}) {
            for (int count : new int[] {1, 3}) addNewer(owner, "of", objects(count), Arrays.copyOf(elements, count));
        }
        addNewer(Map.class, "of", objects(2), "key0", "value0");
        addNewer(Map.class, "of", objects(6), "key0", "value0", "key1", "value1", "key2", "value2");
        Class<?> sequenced = Stream.of(LinkedHashMap.class.getInterfaces()).filter(each -> each != Map.class).findFirst().orElse(null);
        if (sequenced != null) {
            addNewer(Collections.class, "newSequencedSetFromMap", new Class<?>[] {sequenced}, new LinkedHashMap<Object, Object>());
            filled((Collection<Object>) all.get(all.size() - 1));
        }
        IntFunction<Object> element = i -> "element" + i;
        addNewer(List.class, "ofLazy", new Class<?>[] {int.class, IntFunction.class}, 3, element);
        Object last = all.get(all.size() - 1);
        for (int i = 0; last instanceof List && i < 3; i++) ((List<?>) last).get(i);
    }

    static void addOwn() {
        Collection<Object>[] collections = new Collection[] {
            new ArrayDeque<>(), new ArrayList<>(), new HashSet<>(), new LinkedHashSet<>(), new LinkedList<>(), new PriorityQueue<>(),
            new Stack<>(), new TreeSet<>(), new Vector<>(), new ArrayBlockingQueue<>(5), new ConcurrentLinkedDeque<>(),
            new ConcurrentLinkedQueue<>(), new ConcurrentSkipListSet<>(), new CopyOnWriteArrayList<>(), new CopyOnWriteArraySet<>(),
            new LinkedBlockingDeque<>(), new LinkedBlockingQueue<>(), new LinkedTransferQueue<>(), new PriorityBlockingQueue<>(),
            ConcurrentHashMap.newKeySet(), new Shadowing()
        };
        for (Collection<Object> each : collections) all.add(filled(each));
        Map<Object, Object>[] maps = new Map[] {
            new ConcurrentHashMap<>(), new ConcurrentSkipListMap<>(), new HashMap<>(), new Hashtable<>(), new IdentityHashMap<>(),
            new LinkedHashMap<>(), new Properties(), new TreeMap<>(), new WeakHashMap<>()
        };
        for (Map<Object, Object> each : maps) all.add(filled(each));
        Map<Few, Object> byEnum = new EnumMap<>(Few.class);
        for (int i = 0; i < 3; i++) byEnum.put(Few.values()[i], i == 1 ? null : "value" + i);
        all.add(byEnum);
        all.add(EnumSet.range(Few.ELEMENT0, Few.ELEMENT2));
        all.add(EnumSet.range(Many.ELEMENT0, Many.ELEMENT2));
        all.add(Arrays.asList("element0", "element1", "element2"));
        all.add(Collections.nCopies(3, "element"));
        all.add(Collections.singleton("element0"));
        all.add(Collections.singletonList("element0"));
        all.add(Collections.singletonMap("key0", "value0"));
        // Nodes before the head, and a dummy that was taken.
        Deque<Object> backwards = new ConcurrentLinkedDeque<>();
        Queue<Object> polled = new LinkedTransferQueue<>(Collections.singleton("gone"));
        polled.poll();
        for (int i = 0; i < 3; i++) backwards.addFirst("element" + (2 - i));
        all.add(backwards);
        all.add(filled(polled));
        DelayQueue<Later> delayed = new DelayQueue<>();
        ScheduledThreadPoolExecutor scheduled = new ScheduledThreadPoolExecutor(0, task -> new Thread(() -> { }));
        for (int i = 0; i < 3; i++) {
            delayed.add(new Later());
            scheduled.schedule(() -> { }, 1, TimeUnit.DAYS);
        }
        all.add(delayed);
        all.add(scheduled.getQueue());
    }

    static List<String> classesOfTheJdk() throws Exception {
        String pattern = "java/util/(concurrent/)?[^/]*\\.class";
        Path archive = Paths.get(System.getProperty("java.home"), "lib", "rt.jar");
        List<String> files = new ArrayList<>();
        if (Files.exists(archive)) {  // up to Java 8
            try (ZipFile zip = new ZipFile(archive.toFile())) {
                files.addAll(zip.stream().map(ZipEntry::getName).collect(Collectors.toList()));
            }
        } else {
            Path module = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base");
            try (Stream<Path> found = Files.walk(module.resolve("java/util"), 2)) {
                found.forEach(each -> files.add(module.relativize(each).toString()));
            }
        }
        return files.stream().filter(each -> each.matches(pattern)).map(each -> each.replace('/', '.').replaceAll("\\.class$", ""))
                .sorted().collect(Collectors.toList());
    }

    static String missing() throws Exception {
        Set<String> names = new TreeSet<>();
        for (String name : classesOfTheJdk()) {
            Class<?> each = Class.forName(name, false, null);
            boolean collection = Collection.class.isAssignableFrom(each) || Map.class.isAssignableFrom(each);
            boolean inner = each.getEnclosingClass() != null && !Modifier.isStatic(each.getModifiers());
            if (collection && !inner && !each.isInterface() && !Modifier.isAbstract(each.getModifiers()) && !name.matches(OTHERS))
                names.add(name);
        }
        for (Object each : all) names.remove(each.getClass().getName());
        return String.join(" ", names);
    }

    public static void main(String[] arguments) throws Exception {
        addOwn();
        addWrappers();
        addNewer();
        made = all.stream().map(Made::new).toArray(Made[]::new);
        missing = missing();
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
