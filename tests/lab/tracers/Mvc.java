import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Spring MVC on Tomcat; from Java 21 on each request is on a virtual thread. */
@RestController
@EnableAutoConfiguration
public class Mvc {
    @GetMapping("/{route}/{id}")
    public String serve(@PathVariable("route") String route, @PathVariable("id") int id, @RequestParam("tenant") int tenant) throws Exception {
        TracedWork.subtasks(route + tenant);
        return TracedWork.steps(route + tenant);
    }

    public static void main(String[] arguments) throws Exception {
        WebServerApplicationContext context = (WebServerApplicationContext) SpringApplication.run(Mvc.class, "--server.port=0",
            "--server.address=127.0.0.1", "--spring.main.banner-mode=off", "--spring.threads.virtual.enabled=true");
        TracedWork.serve(context.getWebServer().getPort());
    }
}
