import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Objects with known contents. HeapKnown [applications|reloads]; says `ready <pid>` and stays until its stdin ends. */
public class HeapKnown {
    static HeapKnown known;
    static final ReentrantLock LOCK = new ReentrantLock();

    enum Colour { RED, GREEN }

    /** Keys that all have one hash code. */
    static final class Colliding {
        final int number;

        Colliding(int number) {
            this.number = number;
        }

        @Override
        public int hashCode() {
            return 7;
        }
    }

    static class Base {
        long id;
    }

    static final class Row extends Base {
        final String name;
        final Row next;
        final char letter = 'x';
        final boolean good;
        final double share;
        final short small = -3;
        final byte[] data;
        final Object[] list;

        Row(int number, Row next) {
            id = 1000000000000L + number;
            name = number % 2 == 0 ? "row, \"" + number + "\"" : null;
            this.next = next;
            good = number % 3 == 0;
            share = number / 8.0;
            data = new byte[number];
            list = new Object[] {"first-" + number, this, Colour.GREEN};
        }
    }

    /** Has nothing but waste. */
    static final class Waster {
        final List<Object> empty = new ArrayList<>();
        final List<long[]> equal = new ArrayList<>();
        final List<String> texts = new ArrayList<>();
        final List<Object> numbers = new ArrayList<>();
        final List<Map<String, String>> sparse = new ArrayList<>();

        @SuppressWarnings({"deprecation", "removal"})
        Waster() {
            for (int i = 0; i < 1000; i++) empty.add(new ArrayList<Object>(10));
            for (int i = 0; i < 200; i++) equal.add(new long[] {1, 2, 3, 4});
            for (int i = 0; i < 500; i++) texts.add(new String("the same text again".toCharArray()));
            for (int i = 0; i < 300; i++) numbers.add(new Integer(123456));
            for (int i = 0; i < 100; i++) {
                Map<String, String> map = new HashMap<>(64);
                map.put("key", "value");
                sparse.add(map);
            }
        }
    }

    /** Keeps memory outside of the heap. */
    static final class Pool {
        final ByteBuffer[] buffers = {ByteBuffer.allocateDirect(100000), ByteBuffer.allocateDirect(200000)};
        final ByteBuffer view = buffers[0].duplicate();
    }

    /** What several applications have, each its own. */
    public static final class Library {
        static final byte[] TABLE = new byte[300000];
    }

    /** Loads an application with the library. */
    static final class ApplicationLoader extends URLClassLoader {
        ApplicationLoader(String place) throws IOException {
            super(new URL[] {new URL("file:" + place)}, HeapKnown.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(Library.class.getName())) return super.loadClass(name, resolve);
            try (InputStream in = HeapKnown.class.getResourceAsStream(name + ".class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int c; (c = in.read()) >= 0; ) bytes.write(c);
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final List<Object> APPLICATIONS = new ArrayList<>();

    static void load(String... places) throws Exception {
        for (String place : places) {
            APPLICATIONS.add(Class.forName(Library.class.getName(), true, new ApplicationLoader(place)));
        }
    }

    final Map<String, Integer> hash = new HashMap<>();
    final Map<String, Integer> linked = new LinkedHashMap<>();
    final Map<String, Integer> table = new Hashtable<>();
    final Map<String, Integer> concurrent = new ConcurrentHashMap<>();
    final Map<String, Integer> tree = new TreeMap<>();
    final Map<String, Integer> skip = new ConcurrentSkipListMap<>();
    final Map<String, Integer> identity = new IdentityHashMap<>();
    final Map<String, Integer> weakKeys = new WeakHashMap<>();
    final Map<Colliding, Integer> colliding = new HashMap<>();
    final Map<Colliding, Integer> collidingConcurrent = new ConcurrentHashMap<>();
    final Collection<String> hashSet = new HashSet<>();
    final Collection<String> treeSet = new TreeSet<>();
    final Collection<String> keySet = ConcurrentHashMap.newKeySet();
    final Collection<String> arrayList = new ArrayList<>();
    final Collection<String> vector = new Vector<>();
    final Collection<String> linkedList = new LinkedList<>();
    final Collection<String> deque = new ArrayDeque<>();
    final Collection<String> priority = new PriorityQueue<>();
    final Collection<String> copied = new CopyOnWriteArrayList<>();
    final Collection<String> blocking = new LinkedBlockingQueue<>();
    final Collection<String> queue = new ConcurrentLinkedQueue<>();
    final Collection<String> asList = Arrays.asList("a", "b", "c");
    final Collection<String> unmodifiable = Collections.unmodifiableList(new ArrayList<>(asList));
    final Map<?, ?> single = Collections.singletonMap("one", 1);
    final Object listOf1 = of(List.class, "a");
    final Object listOf3 = of(List.class, "a", "b", "c");
    final Object setOf3 = of("java.util.Set", "a", "b", "c");
    final Object mapOf1 = of(Map.class, "one", 1);
    final Object mapOf3 = of(Map.class, "one", 1, "two", 2, "three", 3);
    final Row[] rows = new Row[10];
    final Waster waster = new Waster();
    final Pool pool = new Pool();
    final SoftReference<byte[]> soft = new SoftReference<>(new byte[1000000]);
    final ReferenceQueue<Object> taken = new ReferenceQueue<>();
    final List<WeakReference<Object>> enqueued = new ArrayList<>();

    /** Of List, Set and Map since Java 9; null before. */
    static Object of(Object type, Object... elements) {
        try {
            Class<?> owner = type instanceof Class ? (Class<?>) type : Class.forName((String) type);
            Class<?>[] parameters = new Class<?>[elements.length];
            Arrays.fill(parameters, Object.class);
            return owner.getMethod("of", parameters).invoke(null, elements);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    HeapKnown() {
        for (Map<String, Integer> map : Arrays.asList(hash, linked, table, concurrent, tree, skip, identity, weakKeys)) {
            map.put("one", 1);
            map.put("two", 2);
            map.put("three", 3);
        }
        for (Collection<String> each : Arrays.asList(hashSet, treeSet, keySet, arrayList, vector, linkedList, deque, priority,
                                                     copied, blocking, queue)) {
            each.addAll(asList);
        }
        for (int i = 0; i < 50; i++) {
            colliding.put(new Colliding(i), i);
            collidingConcurrent.put(new Colliding(i), i);
        }
        Row last = null;
        for (int i = 0; i < rows.length; i++) rows[i] = last = new Row(i, last);
        for (int i = 0; i < 5; i++) {
            WeakReference<Object> reference = new WeakReference<>(this, taken);
            enqueued.add(reference);
            reference.enqueue();
        }
    }

    static void waitForLock() {
        byte[] buffer = new byte[5000000];
        LOCK.lock();
        System.out.println(buffer.length);
    }

    static void park() {
        byte[] buffer = new byte[3000000];
        while (true) {
            LockSupport.park(LOCK);
            buffer[0]++;
        }
    }

    /** Starts a virtual thread, which parks, where there are any; null elsewhere. */
    static Thread startVirtual() throws Exception {
        try {
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            builder = type.getMethod("name", String.class).invoke(builder, "known-virtual");
            Runnable runnable = HeapKnown::park;
            return (Thread) type.getMethod("start", Runnable.class).invoke(builder, runnable);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    static void awaitParked(Thread thread) throws InterruptedException {
        while (thread != null && thread.getState() != Thread.State.WAITING) Thread.sleep(1);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) load("/one/", "/two/", arguments[0].equals("reloads") ? "/one/" : "/three/");
        known = new HeapKnown();
        LOCK.lock();
        Thread waiter = new Thread(HeapKnown::waitForLock, "known-waiter");
        waiter.setDaemon(true);
        waiter.start();
        Thread virtual = startVirtual();
        awaitParked(waiter);
        awaitParked(virtual);
        System.out.println("ready " + Pid.own());
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
