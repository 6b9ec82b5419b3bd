package check

import dev.restate.common.Request
import dev.restate.common.Target
import dev.restate.sdk.common.TerminalException
import dev.restate.sdk.common.TimeoutException
import dev.restate.sdk.kotlin.*
import dev.restate.serde.Serde
import kotlin.time.Duration.Companion.milliseconds

suspend fun stepsOf(ctx: Context, id: String): String {
  val named = ctx.runBlock("named") { "a${tried("steps$id")}" }
  val unnamed = ctx.runBlock { "b" }
  ctx.runBlock("void") {}
  val left = ctx.runAsync("left") { "l" }
  val right = ctx.runAsync("right", quick()) { 7 }
  left.await()
  right.await()
  val raw = ctx.runBlock(Serde.RAW, "raw") { byteArrayOf(1, 0, 255.toByte()) }
  return "$named$unnamed${left.await()}${right.await()}${raw.size}${raw[2]}"
}

private fun quick(attempts: Int? = null) = retryPolicy {
  initialDelay = 20.milliseconds
  exponentiationFactor = 1.5f
  maxDelay = 100.milliseconds
  maxAttempts = attempts
}

suspend fun flakyOf(ctx: Context, id: String): String =
    ctx.runBlock("flaky", quick(10)) {
      val n = tried(id)
      check(n >= 3) { "not yet $n" }
      "tries $n"
    }

suspend fun exhaustedOf(ctx: Context, id: String): String =
    try {
      ctx.runBlock<Unit>("never", quick(2)) { throw IllegalStateException("no ${tried(id)}") }
      "no failure"
    } catch (e: TerminalException) {
      "${e.code} ${e.message}"
    }

suspend fun callsOf(ctx: Context, id: String): List<String> {
  val seen = mutableListOf<String>()
  seen += ctx.call(Ask.kitchen("echo", "called")).await()
  seen += ctx.call(Ask.kitchen("headers", null).header("x-check", "h")).await()
  repeat(2) { seen += ctx.call(Ask.box(id, "add", "1").idempotencyKey("k$id")).await() }
  val sent = ctx.send(Ask.kitchen("echo", "sent").header("x-check", "s").idempotencyKey("s$id"))
  seen += "${sent.invocationId().startsWith("inv_1")}"
  seen += sent.attach().await()
  val late = ctx.send(Ask.kitchen("echo", "late"), 150.milliseconds)
  seen += "ready ${late.output().isReady}"
  seen += ctx.invocationHandle<String>(late.invocationId()).attach().await()
  seen += ctx.invocationHandle<String>(late.invocationId()).output().value
  try {
    ctx.call(Ask.kitchen("doomed", null)).await()
  } catch (e: TerminalException) {
    seen += "${e.code} ${e.message}"
  }
  val request = Request.of(Target.service("Kitchen", "bytes"), byteArrayOf(1, 2, 3))
  val raw = ctx.call(request).await()
  seen += "${raw[0]}${raw.size}"
  return seen
}

/** Puts the id of an awakeable in a box and waits for it. */
suspend fun awaitOf(ctx: Context, id: String): String {
  val it = ctx.awakeable<String>()
  ctx.call(Ask.box(id, "put", it.id)).await()
  try {
    return "got ${it.await()}"
  } catch (e: TerminalException) {
    ctx.runBlock("compensate") {}
    ctx.call(Ask.box(id, "put", "compensated ${e.code} ${e.message}")).await()
    throw e
  }
}

suspend fun cancelsOf(ctx: Context, id: String): List<String> {
  val seen = mutableListOf<String>()
  val call = ctx.call(Ask.kitchen("await", id))
  val called = call.invocationId()
  ctx.sleep(300.milliseconds)
  ctx.invocationHandle<String>(called).cancel()
  try {
    call.await()
  } catch (e: TerminalException) {
    seen += "${e.code} ${e.message}"
  }
  val sent = ctx.send(Ask.kitchen("await", "$id-sent"))
  ctx.sleep(300.milliseconds)
  sent.cancel()
  try {
    sent.attach().await()
  } catch (e: TerminalException) {
    seen += "${e.code} ${e.message}"
  }
  seen += ctx.call(Ask.box(id, "get", null)).await()
  return seen
}

suspend fun chooseOf(ctx: Context): List<String> {
  val seen = mutableListOf<String>()
  val never = ctx.awakeable<String>()
  val soon = ctx.timer(50.milliseconds, "soon")
  seen += select {
    never.onAwait { "awakeable" }
    soon.onAwait { "timer" }
  }.await()
  val quick = ctx.runAsync("quick") { "run" }
  seen += "any " + select {
    never.onAwait { 0 }
    quick.onAwait { 1 }
  }.await()
  try {
    never.await(40.milliseconds)
  } catch (e: TimeoutException) {
    seen += "timeout"
  }
  val bad = ctx.runAsync<String>("bad") { throw TerminalException(499, "bad") }
  seen += bad.mapFailure { "mapped ${it.code}" }.await()
  seen += ctx.call(Ask.kitchen("echo", "map")).map { it + "ped" }.await()
  try {
    listOf(bad).awaitAll()
  } catch (e: TerminalException) {
    seen += "all ${e.code}"
  }
  return seen
}
