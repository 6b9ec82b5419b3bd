package check;

import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.endpoint.definition.InvocationRetryPolicy;
import dev.restate.sdk.http.vertx.RestateHttpServer;
import java.time.Duration;

/** Serves all services; the one argument is the port. */
public final class Main {
  public static void main(String[] args) {
    InvocationRetryPolicy.Builder quick =
        InvocationRetryPolicy.builder()
            .initialInterval(Duration.ofMillis(20))
            .exponentiationFactor(2.0)
            .maxInterval(Duration.ofMillis(200))
            .maxAttempts(20)
            .onMaxAttempts(InvocationRetryPolicy.OnMaxAttempts.KILL);
    var endpoint =
        Endpoint.bind(new Kitchen(), s -> s
                .documentation("All that a plain service can do")
                .addMetadata("kind", "plain")
                .idempotencyRetention(Duration.ofHours(2))
                .journalRetention(Duration.ofHours(3))
                .invocationRetryPolicy(quick)
                .configureHandler("always", h -> h
                    .documentation("Always fails")
                    .addMetadata("mood", "bad")
                    .inactivityTimeout(Duration.ofSeconds(5))
                    .abortTimeout(Duration.ofSeconds(6))
                    .idempotencyRetention(Duration.ofMinutes(1))
                    .journalRetention(Duration.ofMinutes(2))
                    .invocationRetryPolicy(
                        InvocationRetryPolicy.builder()
                            .initialInterval(Duration.ofMillis(10))
                            .maxAttempts(3)
                            .onMaxAttempts(InvocationRetryPolicy.OnMaxAttempts.PAUSE))))
            .bind(new Box(), s -> s.configureHandler("lazyDance", h -> h.enableLazyState(true)))
            .bind(new Flow(), s -> s.workflowRetention(Duration.ofMinutes(10)))
            .bind(new Hidden(), s -> s.ingressPrivate(true))
            .bind(new Driver());
    RestateHttpServer.listen(endpoint.build(), Integer.parseInt(args[0]));
  }

  private Main() {}
}
