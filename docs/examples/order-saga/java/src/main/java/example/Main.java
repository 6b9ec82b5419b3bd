// The handlers of handlers.ts in Java: mvn compile exec:java -Dexec.args=9080
package example;

import dev.restate.sdk.endpoint.Endpoint;
import dev.restate.sdk.http.vertx.RestateHttpServer;

public final class Main {
  public static void main(String[] args) {
    RestateHttpServer.listen(Endpoint.bind(new Orders()).bind(new Stock()), Integer.parseInt(args[0]));
  }
}
