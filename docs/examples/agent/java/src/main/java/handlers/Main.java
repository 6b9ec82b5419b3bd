package handlers;

import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.http.vertx.RestateHttpServer;

/** The handlers of handlers.ts in Java: mvn -q compile exec:java -Dexec.args=9080 */
public final class Main {
  public static void main(String[] args) {
    var endpoint = Endpoint.bind(new Agent()).build();
    RestateHttpServer.listen(endpoint, Integer.parseInt(args[0]));
  }

  private Main() {}
}
