import hprof.junit.MaxBytes;
import hprof.junit.MaxCalls;
import hprof.junit.MaxObjects;
import hprof.junit.SameCounts;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests whose names say what should come of them. */
@MaxObjects(of = "BudgetTest$Item", value = 4)
class BudgetTest {
    static class Item {}

    static Object kept;

    /** What loads classes, which makes objects, is done before. */
    static {
        items(step(Integer.getInteger("more", 0)));
    }

    static int step(int n) {
        return n + 1;
    }

    static void items(int count) {
        for (int i = 0; i < count; i++) kept = new Item();
    }

    @Test
    @MaxObjects(3)
    void passesWithAllObjects() {
        items(3);
    }

    @Test
    @MaxObjects(3)
    @MaxBytes(of = "BudgetTest$It*", value = 1)
    void failsTwice() {
        items(4);
    }

    @Test
    void passesByTheClass() {
        items(4);
    }

    @Test
    void failsByTheClass() {
        items(5);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    @MaxCalls(of = "BudgetTest.step", value = 2)
    @MaxCalls(of = "BudgetTest.items", value = 0)
    void failsFor3(int count) {
        for (int i = 0; i < count; i++) step(i);
    }

    @RepeatedTest(40)
    @MaxCalls(of = "BudgetTest.step", value = 1000)
    @MaxObjects(of = "int[]", value = 100)
    void passesBesideOthers() {
        for (int i = 0; i < 1000; i++) step(i);
        for (int i = 0; i < 100; i++) kept = new int[10];
    }

    @Test
    @MaxCalls(of = "BudgetTest.stp", value = 2)
    void failsForNoMethod() {}

    @Test
    @MaxCalls(of = "com.acme.None.step", value = 2)
    void failsForNoClass() {}

    @Test
    @MaxCalls(of = "BudgetTest.step", value = 0)
    void failsAsItWould() {
        step(1);
        throw new IllegalStateException("own failure");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    @SameCounts("counts")
    void isTheSame(int count) {
        int more = Integer.getInteger("more", 0);
        for (int i = 0; i < count + more; i++) step(i);
        items(count + more);
    }
}
