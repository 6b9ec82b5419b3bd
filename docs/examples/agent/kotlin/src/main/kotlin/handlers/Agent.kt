package handlers

import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Shared
import dev.restate.sdk.annotation.Workflow
import dev.restate.sdk.kotlin.SharedWorkflowContext
import dev.restate.sdk.kotlin.WorkflowContext
import dev.restate.sdk.kotlin.awakeable
import dev.restate.sdk.kotlin.durablePromiseKey
import dev.restate.sdk.kotlin.runBlock
import handlers.Model.Message
import handlers.Model.Move
import kotlinx.serialization.Serializable

/**
 * What callers read: what the agent says and does, and approvals that it waits for. `approval` is the
 * id of the awakeable that a human resolves with true or false.
 */
@Serializable
data class Part(val text: String, val approval: String? = null, val isLast: Boolean? = null)

private val TOOLS =
    mapOf<String, (String) -> String>(
        "findFlight" to { city -> "flight F7 to $city" },
        "book" to { flight -> "booked $flight" },
    )

/** Nobody but a human lets the agent spend money. */
private val NEEDS_APPROVAL = setOf("book")

private const val MOVES_MAX = 20

private fun part(at: Int) = durablePromiseKey<Part>("part $at")

@Workflow
class Agent {
  @Workflow
  suspend fun run(ctx: WorkflowContext, task: String): String {
    val conversation = mutableListOf(Message("user", task))
    var parts = 0
    val show: suspend (Part) -> Unit = { ctx.promiseHandle(part(parts++)).resolve(it) }
    for (moves in 1..MOVES_MAX) {
      val move = ctx.runBlock("model") { Model.next(conversation) }
      if (move.say != null) {
        conversation += Message("agent", move.say)
        show(Part(move.say))
      } else if (move.tool != null) {
        conversation += Message("tool", use(ctx, move.tool, move.input, show))
      } else {
        break
      }
    }
    show(Part("", isLast = true))
    return Model.texts(conversation, "agent").joinToString(" ")
  }

  private suspend fun use(
      ctx: WorkflowContext,
      tool: String,
      input: String,
      show: suspend (Part) -> Unit,
  ): String {
    if (tool in NEEDS_APPROVAL) {
      val answer = ctx.awakeable<Boolean>()
      show(Part("May I use $tool: $input?", approval = answer.id))
      if (!answer.await()) return "was not allowed to $tool"
    } else {
      show(Part("$tool: $input"))
    }
    return ctx.runBlock(tool) { TOOLS[tool]?.invoke(input) ?: "There is no tool $tool" }
  }

  /** The part of this number, as soon as there is one. */
  @Handler
  @Shared
  suspend fun read(ctx: SharedWorkflowContext, at: Int): Part = ctx.promise(part(at)).future().await()
}
