package check

import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Shared
import dev.restate.sdk.annotation.VirtualObject
import dev.restate.sdk.common.StateKey
import dev.restate.sdk.kotlin.*
import java.util.TreeSet
import kotlin.time.Duration.Companion.milliseconds

private val COUNT = stateKey<Int>("count")
private val TEXT = stateKey<String>("text")
private val RAW = StateKey.bytes("raw")

/** A virtual object; `lazyDance` is told to the server as one with lazy state. */
@VirtualObject
class Box {
  @Handler
  suspend fun add(ctx: ObjectContext, n: String): String {
    val next = (ctx.get(COUNT) ?: 0) + n.toInt()
    ctx.set(COUNT, next)
    return "$next"
  }

  @Handler
  suspend fun put(ctx: ObjectContext, text: String): String {
    ctx.set(TEXT, text)
    return text
  }

  @Shared suspend fun get(ctx: SharedObjectContext): String = ctx.get(TEXT) ?: "nothing"

  @Shared suspend fun keys(ctx: SharedObjectContext): List<String> = TreeSet(ctx.stateKeys()).toList()

  @Handler suspend fun dance(ctx: ObjectContext): List<String> = danced(ctx)

  @Handler suspend fun lazyDance(ctx: ObjectContext): List<String> = danced(ctx)

  private suspend fun danced(ctx: ObjectContext): List<String> {
    val seen = mutableListOf("${ctx.key()} ${ctx.get(COUNT) != null} ${ctx.get(TEXT) ?: "-"}")
    ctx.set(COUNT, 5)
    ctx.set(RAW, byteArrayOf(0, 1, 200.toByte()))
    seen += "${ctx.get(COUNT) ?: 0} ${ctx.get(RAW)?.size}"
    seen += "${TreeSet(ctx.stateKeys())}"
    ctx.sleep(400.milliseconds)
    ctx.clear(COUNT)
    seen += "${ctx.get(COUNT) != null} ${TreeSet(ctx.stateKeys())}"
    ctx.clearAll()
    seen += "${ctx.get(RAW) != null} ${ctx.stateKeys().size}"
    ctx.set(TEXT, "danced")
    return seen
  }

  /** Holds the key until its awakeable, kept in the state of another box, is completed. */
  @Handler
  suspend fun hold(ctx: ObjectContext, other: String): String {
    val it = ctx.awakeable<String>()
    ctx.call(Ask.box(other, "put", it.id)).await()
    return it.await()
  }
}
