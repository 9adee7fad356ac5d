import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;

/** Of the program Direct: segments of arenas. */
public class Segments {
    /** In Java 25 and later the VM's pool has those of Arena.ofAuto() alone. */
    private static final String KIND = Runtime.version().feature() >= 25 ? "segment" : "reserved_segment";

    static void confined() {
        Arena arena = Arena.ofConfined();
        for (int i = 0; i < 4; i++) Direct.KEPT.add(arena.allocate(4096));
        Direct.KEPT.add(arena.allocate(100, 1));
        Direct.say("confined", KIND, 4 * 4096 + allocated(100), 5, 4 * 4096 + allocated(100), 5);
    }

    /** In Java 25 and later segments are cleared by words. */
    private static int allocated(int size) {
        return Runtime.version().feature() >= 25 ? (size + 7) / 8 * 8 : size;
    }

    static void closed() {
        try (Arena arena = Arena.ofShared()) {
            for (int i = 0; i < 3; i++) arena.allocate(8192);
        }
        Direct.say("closed", KIND, 0, 0, 3 * 8192, 3);
    }

    static void auto() {
        Direct.KEPT.add(Arena.ofAuto().allocate(50000));
        Direct.say("auto", "reserved_segment", 50000, 1, 50000, 1);
    }

    static void mapped() throws Exception {
        Arena closed = Arena.ofShared();
        try (RandomAccessFile file = new RandomAccessFile("mapped", "rw"); FileChannel channel = file.getChannel()) {
            Direct.KEPT.add(channel.map(FileChannel.MapMode.READ_WRITE, 0, 40000, Arena.global()));
            channel.map(FileChannel.MapMode.READ_WRITE, 0, 30000, closed);
        }
        closed.close();
        Direct.say("mapped", "mapped_file", 40000, 1, 70000, 2);
    }

    public static void all() throws Exception {
        confined();
        closed();
        auto();
        mapped();
    }
}
