package check

import dev.restate.common.Request
import dev.restate.common.RequestBuilder
import dev.restate.common.Target
import dev.restate.serde.Serde
import dev.restate.serde.TypeTag
import dev.restate.serde.kotlinx.typeTag

/** Requests with a string in and a string out, the shape of nearly all handlers here. */
object Ask {
  fun kitchen(handler: String, input: String?) = to(Target.service("Kitchen", handler), input)

  fun box(key: String, handler: String, input: String?) =
      to(Target.virtualObject("Box", key, handler), input)

  /** No input at all when it is null: a handler without input refuses even the JSON `null`. */
  @Suppress("UNCHECKED_CAST")
  private fun to(target: Target, input: String?): RequestBuilder<String, String> {
    val tag = (if (input == null) Serde.VOID else typeTag<String>()) as TypeTag<String>
    return Request.of(target, tag, typeTag<String>(), input)
  }
}
