import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;

/** Vert.x: on its event loop, after a timer, and on its workers. */
public class Vertx {
    public static void main(String[] arguments) throws Exception {
        io.vertx.core.Vertx vertx = io.vertx.core.Vertx.vertx();
        Router router = Router.router(vertx);
        router.get("/:route/:id").handler(request -> {
            String of = TracedWork.work(request.pathParam("route") + request.request().getParam("tenant"));
            vertx.setTimer(1, timer -> {
                TracedWork.work(of);
                vertx.executeBlocking(() -> TracedWork.steps(of), false).map(TracedWork::work)
                    .onComplete(done -> request.response().end(TracedWork.work(of)));
            });
        });
        HttpServer server = vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().get();
        TracedWork.serve(server.actualPort());
    }
}
