package handlers

import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Shared
import dev.restate.sdk.annotation.VirtualObject
import dev.restate.sdk.common.TerminalException
import dev.restate.sdk.kotlin.ObjectContext
import dev.restate.sdk.kotlin.SharedObjectContext
import dev.restate.sdk.kotlin.stateKey

private val LEFT = stateKey<Int>("left")

@VirtualObject
class Stock {
  @Handler
  suspend fun add(ctx: ObjectContext, count: Int): Int {
    val left = (ctx.get(LEFT) ?: 0) + count
    ctx.set(LEFT, left)
    return left
  }

  @Handler
  suspend fun reserve(ctx: ObjectContext, count: Int) {
    val left = ctx.get(LEFT) ?: 0
    if (left < count) throw TerminalException(409, "Only $left left")
    ctx.set(LEFT, left - count)
  }

  @Handler
  @Shared
  suspend fun left(ctx: SharedObjectContext): Int = ctx.get(LEFT) ?: 0
}
