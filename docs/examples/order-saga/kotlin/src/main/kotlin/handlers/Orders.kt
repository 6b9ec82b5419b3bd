package handlers

import dev.restate.sdk.annotation.Handler
import dev.restate.sdk.annotation.Service
import dev.restate.sdk.common.TerminalException
import dev.restate.sdk.kotlin.Context
import dev.restate.sdk.kotlin.runBlock
import kotlinx.serialization.Serializable

@Serializable data class Order(val item: String, val count: Int, val card: String)

@Service
class Orders {
  @Handler
  suspend fun place(ctx: Context, order: Order): String {
    val shelf = StockClient.fromContext(ctx, order.item)
    val payment = ctx.random().nextUUID().toString()
    val undo = ArrayDeque<suspend () -> Unit>()
    try {
      shelf.reserve(order.count).await()
      undo.addFirst { shelf.add(order.count).await() }
      val receipt = ctx.runBlock("charge") { charge(payment, order.card) }
      return "${order.count} ${order.item}: $receipt"
    } catch (e: TerminalException) {
      // Other errors are tried again. These are final: declined, canceled, thrown by a callee.
      for (step in undo) step()
      throw e
    }
  }

  /** Stands in for the API of a bank. A payment has an id, so that charging twice charges once. */
  private fun charge(payment: String, card: String): String {
    if (card == "stolen") throw TerminalException(402, "The card was declined")
    return "charged $card, payment ${payment.take(8)}"
  }
}
