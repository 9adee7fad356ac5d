import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Tomcat within this program: a servlet, as many requests to it as asked for, stop. */
public class TomcatOnce {
    public static class Squares extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int n = Integer.parseInt(request.getParameter("n"));
            response.getWriter().println(n * n);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(arguments[0]);
        tomcat.setPort(0);
        Context context = tomcat.addContext("", new File(arguments[0]).getAbsolutePath());
        Tomcat.addServlet(context, "squares", new Squares());
        context.addServletMappingDecoded("/squares", "squares");
        tomcat.getConnector();
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        long sum = 0;
        for (int n = 0; n < Integer.parseInt(arguments[1]); n++) {
            URI at = URI.create("http://localhost:" + port + "/squares?n=" + n);
            try (BufferedReader in = new BufferedReader(new InputStreamReader(at.toURL().openStream()))) {
                sum += Long.parseLong(in.readLine());
            }
        }
        tomcat.stop();
        tomcat.destroy();
        System.out.println("sum " + sum);
    }
}
