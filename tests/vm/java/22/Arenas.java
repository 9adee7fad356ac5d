import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

/** Arenas of all kinds, with segments of known sizes. */
public class Arenas {
    static final List<Object> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        Arena confined = Arena.ofConfined();
        MemorySegment whole = confined.allocate(100_000);
        keep(confined, whole, whole.asSlice(1000, 500), confined.allocate(20_000));
        Arena shared = Arena.ofShared();
        keep(shared, shared.allocate(3_000_000));
        keep(Arena.global().allocate(7_000));
        keep(Arena.ofAuto().allocate(50_000));
        Arena mapped = Arena.ofShared();
        try (RandomAccessFile file = new RandomAccessFile("mapped", "rw"); FileChannel channel = file.getChannel()) {
            keep(mapped, channel.map(FileChannel.MapMode.READ_WRITE, 0, 40_000, mapped));
        }
        Arena closed = Arena.ofConfined();
        keep(closed, closed.allocate(900_000));
        closed.close();
    }

    private static void keep(Object... objects) {
        KEPT.addAll(List.of(objects));
    }
}
