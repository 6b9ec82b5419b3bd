package handlers;

import dev.restate.sdk.Context;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Service;
import java.time.Duration;
import java.time.Instant;

@Service
public class Greeter {
  /** Stands in for what differs from attempt to attempt, or must not be done twice. */
  private static String now() {
    return Instant.now().toString();
  }

  @Handler
  public String greet(Context ctx, String name) {
    // A step: its result is stored, and no later attempt does it again.
    String time = ctx.run("time", String.class, Greeter::now);
    // It outlives this process and the server.
    ctx.sleep(Duration.ofSeconds(1));
    return "Hello " + name + ", it was " + time;
  }
}
