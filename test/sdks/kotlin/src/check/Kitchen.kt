package check

import dev.restate.common.Request
import dev.restate.common.Target

import dev.restate.sdk.annotation.Accept
import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Raw
import dev.restate.sdk.annotation.Service
import dev.restate.sdk.common.TerminalException
import dev.restate.sdk.kotlin.*
import java.util.TreeMap
import java.util.concurrent.ConcurrentHashMap
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.serialization.Serializable

@Serializable data class Person(val name: String, val age: Int, val tags: List<String>)

@Serializable data class Failing(val code: Int, val message: String)

private val TRIES = ConcurrentHashMap<String, Int>()

fun tried(what: String): Int = TRIES.merge(what, 1, Int::plus)!!

/** A plain service: one handler a feature of the SDK. What calls and waits is in the other files. */
@Service
class Kitchen {
  @Handler suspend fun echo(ctx: Context, text: String): String = text

  @Handler
  suspend fun person(ctx: Context, person: Person): Person =
      person.copy(name = "${person.name}!", age = person.age + 1)

  @Handler
  @Raw(contentType = "application/x-bytes")
  suspend fun bytes(
      ctx: Context,
      @Accept("application/*") @Raw(contentType = "application/x-bytes") body: ByteArray,
  ): ByteArray = body.reversedArray()

  @Handler suspend fun nothing(ctx: Context) {}

  @Handler suspend fun noInput(ctx: Context): String = "none"

  @Handler suspend fun noOutput(ctx: Context, text: String) {}

  @Handler
  suspend fun headers(ctx: Context): String {
    val own = TreeMap(ctx.request().headers.filterKeys { it.lowercase().startsWith("x-check") })
    return "$own ${ctx.request().invocationId.toString().startsWith("inv_1")}"
  }

  @Handler suspend fun steps(ctx: Context, id: String): String = stepsOf(ctx, id)

  @Handler suspend fun flaky(ctx: Context, id: String): String = flakyOf(ctx, id)

  @Handler suspend fun exhausted(ctx: Context, id: String): String = exhaustedOf(ctx, id)

  @Handler
  suspend fun doomed(ctx: Context): String =
      ctx.runBlock<String>("doomed") { throw TerminalException(418, "teapot") }

  @Handler
  suspend fun stumble(ctx: Context, id: String): String {
    ctx.runBlock("before") {}
    val n = tried(id)
    check(n >= 3) { "stumbled $n" }
    ctx.runBlock("after") {}
    return "went on"
  }

  @Handler suspend fun always(ctx: Context): String = throw IllegalStateException("always")

  @Handler
  suspend fun fail(ctx: Context, how: Failing): String =
      throw TerminalException(how.code, how.message)

  @Handler
  suspend fun nap(ctx: Context, ms: String): String {
    ctx.sleep(ms.toLong().milliseconds)
    ctx.timer(5.milliseconds, "named nap").await()
    return "slept"
  }

  @Handler
  suspend fun fan(ctx: Context, n: Int): Int {
    val all = (0 until n).map { ctx.call(Ask.kitchen("echo", "$it")) }
    return all.awaitAll().sumOf { it.toInt() }
  }

  @Handler suspend fun calls(ctx: Context, id: String): List<String> = callsOf(ctx, id)

  @Handler
  suspend fun absent(ctx: Context): String =
      ctx.call(Request.of(
          Target.service("Nowhere", "h"), ByteArray(0))).await().size.toString()

  @Handler suspend fun await(ctx: Context, id: String): String = awaitOf(ctx, id)

  @Handler
  suspend fun resolve(ctx: Context, awakeable: String) {
    ctx.awakeableHandle(awakeable).resolve("by handler")
  }

  @Handler
  suspend fun reject(ctx: Context, awakeable: String) {
    ctx.awakeableHandle(awakeable).reject("no by handler")
  }

  @Handler suspend fun cancels(ctx: Context, id: String): List<String> = cancelsOf(ctx, id)

  @Handler suspend fun choose(ctx: Context): List<String> = chooseOf(ctx)

  @Handler
  suspend fun random(ctx: Context): Boolean {
    val drawn = "${ctx.random().nextUUID()}/${ctx.random().nextInt()}"
    val kept = ctx.runBlock("keep") { drawn }
    ctx.sleep(500.milliseconds)
    return kept == drawn
  }

  @Handler
  suspend fun large(ctx: Context, bytes: Int): Int {
    val text = ctx.runBlock("large") { "y".repeat(bytes) }
    ctx.sleep(300.milliseconds)
    return ctx.call(Ask.kitchen("echo", text)).await().length
  }
}
