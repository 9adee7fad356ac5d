import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Spring WebFlux on Netty: each step of a request is on another thread. */
@RestController
@EnableAutoConfiguration
public class Flux {
    @GetMapping("/{route}/{id}")
    public Mono<String> serve(@PathVariable("route") String route, @PathVariable("id") int id, @RequestParam("tenant") int tenant) {
        String of = TracedWork.work(route + tenant);
        return Mono.just(of).publishOn(Schedulers.parallel()).map(TracedWork::work).delayElement(Duration.ofMillis(1)).map(TracedWork::work)
            .flatMap(now -> Mono.fromCallable(() -> TracedWork.steps(now)).subscribeOn(Schedulers.boundedElastic())).map(TracedWork::work);
    }

    public static void main(String[] arguments) throws Exception {
        WebServerApplicationContext context = (WebServerApplicationContext) SpringApplication.run(Flux.class, "--server.port=0",
            "--server.address=127.0.0.1", "--spring.main.banner-mode=off");
        TracedWork.serve(context.getWebServer().getPort());
    }
}
