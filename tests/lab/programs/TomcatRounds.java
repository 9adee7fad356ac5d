import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Tomcat and four clients of it with connections that stay; FOLDER REQUESTS of each. */
public class TomcatRounds extends Rounds {
    public static class Squares extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            long n = Long.parseLong(request.getParameter("n"));
            response.getOutputStream().print(String.format("%020d", n * n));
        }
    }

    final Tomcat tomcat = new Tomcat();
    final String folder;
    final int requests;

    TomcatRounds(String folder, int requests) {
        this.folder = folder;
        this.requests = requests;
    }

    @Override
    void start() throws Exception {
        tomcat.setBaseDir(folder);
        tomcat.setPort(0);
        Context context = tomcat.addContext("", new File(folder).getAbsolutePath());
        Tomcat.addServlet(context, "squares", new Squares());
        context.addServletMappingDecoded("/squares", "squares");
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        tomcat.start();
    }

    /** The sum of the answers, which end with 20 digits each. */
    long client() throws Exception {
        long sum = 0;
        byte[] answer = new byte[1000];
        try (Socket socket = new Socket("127.0.0.1", tomcat.getConnector().getLocalPort())) {
            OutputStream out = socket.getOutputStream();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            for (int n = 0; n < requests; n++) {
                out.write(("GET /squares?n=" + n + " HTTP/1.1\r\nHost: here\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
                int size = 0, end = -1;
                while (end < 0 || size < end) {
                    size += in.read(answer, size, answer.length - size);
                    int head = new String(answer, 0, size, StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n");
                    end = head < 0 ? -1 : head + 24;
                }
                sum += Long.parseLong(new String(answer, end - 20, 20, StandardCharsets.ISO_8859_1));
            }
        }
        return sum;
    }

    @Override
    void round() throws Exception {
        FutureTask<?>[] clients = new FutureTask<?>[4];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = new FutureTask<>((Callable<Long>) this::client);
            new Thread(clients[i]).start();
        }
        for (FutureTask<?> client : clients) System.out.println("sum " + client.get());
    }

    @Override
    void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }

    public static void main(String[] arguments) throws Exception {
        new TomcatRounds(arguments[0], Integer.parseInt(arguments[1])).run();
    }
}
