package handlers

import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Shared
import dev.restate.sdk.annotation.VirtualObject
import dev.restate.sdk.kotlin.ObjectContext
import dev.restate.sdk.kotlin.SharedObjectContext
import dev.restate.sdk.kotlin.stateKey
import kotlin.time.Duration.Companion.seconds
import kotlinx.serialization.Serializable

/** A device that sends nothing for so long is offline. */
private val OFFLINE_AFTER = 2.seconds

private val COUNT = stateKey<Int>("count")
private val LAST = stateKey<Double>("last")
private val IS_ONLINE = stateKey<Boolean>("isOnline")

@Serializable data class Status(val count: Int, val isOnline: Boolean)

@VirtualObject
class Device {
  /** Something that the device measured. Sets the timer anew. */
  @Handler
  suspend fun measured(ctx: ObjectContext, value: Double): Status {
    val count = (ctx.get(COUNT) ?: 0) + 1
    ctx.set(COUNT, count)
    ctx.set(LAST, value)
    ctx.set(IS_ONLINE, true)
    DeviceClient.fromContext(ctx, ctx.key()).send().timeOver(count, OFFLINE_AFTER)
    return Status(count, isOnline = true)
  }

  /** The timer of a measurement. It does nothing if there was a later one. */
  @Handler
  suspend fun timeOver(ctx: ObjectContext, count: Int) {
    if ((ctx.get(COUNT) ?: 0) == count) ctx.set(IS_ONLINE, false)
  }

  @Handler
  @Shared
  suspend fun status(ctx: SharedObjectContext): Status =
      Status(ctx.get(COUNT) ?: 0, ctx.get(IS_ONLINE) ?: false)
}
