package check

import dev.restate.sdk.annotation.Shared
import dev.restate.sdk.annotation.Workflow
import dev.restate.sdk.common.TerminalException
import dev.restate.sdk.kotlin.*

private val STAGE = stateKey<String>("stage")
private val GO = durablePromiseKey<String>("go")
private val DONE = durablePromiseKey<String>("done")

/** A workflow that waits for one promise and completes another. */
@Workflow
class Flow {
  @Workflow
  suspend fun run(ctx: WorkflowContext, input: String): String {
    ctx.set(STAGE, "waiting")
    try {
      val early = ctx.promise(GO).peek()
      val went = ctx.promise(GO).future().await()
      ctx.set(STAGE, "went")
      ctx.promiseHandle(DONE).resolve("done $went")
      return "$input $went ${early.isReady} ${ctx.promise(GO).peek().value}"
    } catch (e: TerminalException) {
      ctx.set(STAGE, "rejected")
      ctx.promiseHandle(DONE).reject("done badly")
      throw e
    }
  }

  @Shared
  suspend fun go(ctx: SharedWorkflowContext, text: String): String {
    ctx.promiseHandle(GO).resolve(text)
    return "told"
  }

  @Shared
  suspend fun stop(ctx: SharedWorkflowContext, text: String): String {
    ctx.promiseHandle(GO).reject(text)
    return "told"
  }

  @Shared suspend fun done(ctx: SharedWorkflowContext): String = ctx.promise(DONE).future().await()

  @Shared
  suspend fun peek(ctx: SharedWorkflowContext): String =
      "${ctx.promise(DONE).peek().isReady} ${ctx.key()}"

  @Shared suspend fun stage(ctx: SharedWorkflowContext): String = ctx.get(STAGE) ?: "none"
}
