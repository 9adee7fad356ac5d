import java.io.File;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Works with the database h2 in memory and forgets to close what it has read. Says `ready <pid>`, stays until its stdin ends. */
public class H2Leak {
    /** What nobody closes. */
    static final List<ResultSet> OPEN = new ArrayList<>();

    static ResultSet read(Connection connection, int from) throws Exception {
        Statement statement = connection.createStatement();
        return statement.executeQuery("select id, name from person where id >= " + from + " and id < " + (from + 100));
    }

    public static void main(String[] arguments) throws Exception {
        Connection connection = DriverManager.getConnection("jdbc:h2:mem:leak;CACHE_SIZE=64");
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table person(id int primary key, name varchar(80))");
            for (int i = 0; i < 2000; i++) statement.execute("insert into person values(" + i + ", 'person number " + i + "')");
        }
        int rows = 0;
        for (int round = 0; round < 600; round++) {
            ResultSet result = read(connection, round * 3);
            if (result.next()) rows += result.getInt(1);
            if (round % 2 == 0) {
                OPEN.add(result);
            } else {
                result.getStatement().close();
            }
        }
        System.out.println("ready " + new File("/proc/self").getCanonicalFile().getName());
        while (System.in.read() >= 0) {
            rows++;
        }
    }
}
