package check

import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Service
import dev.restate.sdk.kotlin.Context

/** A service the ingress must not reach. */
@Service
class Hidden {
  @Handler suspend fun whisper(ctx: Context, text: String): String = text
}
