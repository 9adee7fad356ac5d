import com.github.javaparser.JavaParser;
import com.github.javaparser.ParserConfiguration;
import com.github.javaparser.ast.CompilationUnit;
import com.github.javaparser.ast.expr.NameExpr;
import com.github.javaparser.ast.visitor.VoidVisitorAdapter;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import freemarker.template.Configuration;
import freemarker.template.Template;
import freemarker.template.TemplateMethodModelEx;
import io.undertow.Undertow;
import java.io.InputStream;
import java.io.StringWriter;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URL;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Work for a library: a parser, JSON, SQL, templates, web requests. Each calls element() back for what it comes by; with a
 * second argument that does more than it has to: "call" calls a method twice, "box" makes an Integer, "cache" misses one.
 */
public class Libraries {
  static String plant = "";
  static Object boxed;
  static int elements;
  static final Map<String, Integer> known = new HashMap<>();

  static int weigh(String name) {
    int sum = elements++ & 1;
    for (int i = 0; i < name.length(); i++) sum += name.charAt(i) * i;
    return sum;
  }

  static Integer look(String name) {
    return weigh(name) % 100;
  }

  /** Called by the library. */
  public static String element(String name) {
    int weight = weigh(name);
    if (plant.equals("call")) weight = weigh(name);
    if (plant.equals("box")) boxed = Integer.valueOf(1000 + weight);
    String key = plant.equals("cache") && elements % 50 == 0 ? name + elements : name;
    Integer found = known.get(key);
    if (found == null) known.put(key, found = look(key));
    return name + found;
  }

  static class Item {
    String name;
    int[] parts;
    List<Item> inner = new ArrayList<>();
  }

  static void javaparser() {
    StringBuilder source = new StringBuilder("class Many {\n");
    for (int i = 0; i < 300; i++)
      source.append("  int m").append(i).append("(int a, String b) { int x = a * ").append(i).append(" + b.length(); ")
          .append("for (int j = 0; j < x; j++) { if (j % 3 == 0) continue; x -= m").append(i / 2).append("(j, \"s\" + j); } return x; }\n");
    JavaParser parser = new JavaParser(new ParserConfiguration());
    for (int i = 0; i < 3; i++) {
      CompilationUnit unit = parser.parse(source + "}").getResult().get();
      unit.accept(new VoidVisitorAdapter<Void>() {
        @Override public void visit(NameExpr name, Void none) {
          element(name.getNameAsString());
          super.visit(name, none);
        }
      }, null);
    }
  }

  static void gson() {
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      Item item = new Item();
      item.name = "item" + i;
      item.parts = new int[] {i, i * 2, i * 3};
      for (int j = 0; j < i % 7; j++) {
        Item inner = new Item();
        inner.name = "inner" + j;
        item.inner.add(inner);
      }
      items.add(item);
    }
    Gson gson = new GsonBuilder()
        .registerTypeAdapter(String.class, (JsonDeserializer<String>) (json, type, context) -> element(json.getAsString())).create();
    for (int i = 0; i < 30; i++) gson.fromJson(gson.toJson(items), Item[].class);
  }

  static void h2() throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:"); Statement statement = connection.createStatement()) {
      statement.execute("CREATE ALIAS ELEMENT FOR \"Libraries.element\"");
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, K INT, S VARCHAR)");
      statement.execute("INSERT INTO T SELECT X, MOD(X * 7919, 100), 'name' || MOD(X, 300) FROM SYSTEM_RANGE(1, 3000)");
      for (int i = 0; i < 5; i++) {
        ResultSet rows = statement.executeQuery("SELECT K, MAX(ELEMENT(S)), COUNT(*) FROM T WHERE ID > " + i + " GROUP BY K ORDER BY K");
        while (rows.next()) rows.getString(2);
      }
    }
  }

  static void freemarker() throws Exception {
    Map<String, Object> model = new HashMap<>();
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 300; i++) names.add("name" + i);
    model.put("names", names);
    model.put("element", (TemplateMethodModelEx) arguments -> element(arguments.get(0).toString()));
    Template template = new Template("page", "<#list names as n><#if n?length gt 5><td>${element(n)?html}</td></#if></#list>",
        new Configuration(Configuration.VERSION_2_3_32));
    for (int i = 0; i < 40; i++) template.process(model, new StringWriter());
  }

  static void undertow() throws Exception {
    Undertow server = Undertow.builder().setIoThreads(1).setWorkerThreads(1).addHttpListener(0, "127.0.0.1", exchange -> {
      StringBuilder page = new StringBuilder();
      for (String name : exchange.getQueryParameters().get("names").getFirst().split(" ")) page.append(element(name));
      exchange.getResponseSender().send(page.toString());
    }).build();
    server.start();
    int port = ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
    byte[] buffer = new byte[4096];
    for (int i = 0; i < 300; i++) {
      HttpURLConnection request = (HttpURLConnection) new URL("http://127.0.0.1:" + port + "/?names=a+b+c+d" + i).openConnection();
      try (InputStream in = request.getInputStream()) {
        while (in.read(buffer) > 0) continue;
      }
    }
    server.stop();
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 1) plant = arguments[1];
    switch (arguments[0]) {
      case "javaparser": javaparser(); break;
      case "gson": gson(); break;
      case "h2": h2(); break;
      case "freemarker": freemarker(); break;
      case "undertow": undertow(); break;
      default: throw new IllegalArgumentException(arguments[0]);
    }
    System.out.println(elements + " elements");
  }
}
