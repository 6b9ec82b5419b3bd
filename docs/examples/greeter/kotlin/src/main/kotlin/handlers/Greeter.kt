package handlers

import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Service
import dev.restate.sdk.kotlin.Context
import dev.restate.sdk.kotlin.runBlock
import java.time.Instant
import kotlin.time.Duration.Companion.seconds

@Service
class Greeter {
  @Handler
  suspend fun greet(ctx: Context, name: String): String {
    // A step: its result is stored, and no later attempt does it again.
    val time = ctx.runBlock("time") { now() }
    // It outlives this process and the server.
    ctx.sleep(1.seconds)
    return "Hello $name, it was $time"
  }

  /** Stands in for what differs from attempt to attempt, or must not be done twice. */
  private fun now() = Instant.now().toString()
}
