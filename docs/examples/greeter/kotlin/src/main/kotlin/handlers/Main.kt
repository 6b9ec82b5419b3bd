package handlers

import dev.restate.sdk.http.vertx.RestateHttpServer
import dev.restate.sdk.kotlin.endpoint.endpoint

/** The handlers of handlers.ts in Kotlin: mvn -q compile exec:java -Dexec.args=9080 */
fun main(args: Array<String>) {
  val endpoint = endpoint {
    bind(Greeter())
  }
  RestateHttpServer.listen(endpoint, args[0].toInt())
}
