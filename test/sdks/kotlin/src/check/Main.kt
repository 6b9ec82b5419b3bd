package check

import dev.restate.sdk.endpoint.definition.InvocationRetryPolicy.OnMaxAttempts
import dev.restate.sdk.http.vertx.RestateHttpServer
import dev.restate.sdk.kotlin.endpoint.*
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes

/** Serves all services; the one argument is the port. */
fun main(args: Array<String>) {
  val endpoint = endpoint {
    bind(Kitchen()) {
      it.documentation = "All that a plain service can do"
      it.idempotencyRetention = 2.hours
      it.journalRetention = 3.hours
      it.invocationRetryPolicy = invocationRetryPolicy {
        initialInterval = 20.milliseconds
        exponentiationFactor = 2.0
        maxInterval = 200.milliseconds
        maxAttempts = 20
        onMaxAttempts = OnMaxAttempts.KILL
      }
      it.configureHandler("always") { handler ->
        handler.invocationRetryPolicy = invocationRetryPolicy {
          initialInterval = 10.milliseconds
          maxAttempts = 3
          onMaxAttempts = OnMaxAttempts.PAUSE
        }
      }
    }
    bind(Box()) { it.configureHandler("lazyDance") { handler -> handler.enableLazyState = true } }
    bind(Flow()) { it.workflowRetention = 10.minutes }
    bind(Hidden()) { it.ingressPrivate = true }
  }
  RestateHttpServer.listen(endpoint, args[0].toInt())
}
