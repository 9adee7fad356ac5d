import java.lang.reflect.Field;
import java.util.TreeSet;

/** Lists the fields of Thread, as a program sees them. */
public class Reflects {
    public static void main(String[] arguments) {
        TreeSet<String> names = new TreeSet<>();
        for (Field field : Thread.class.getDeclaredFields()) {
            names.add(field.getName());
        }
        System.out.println(names);
    }
}
