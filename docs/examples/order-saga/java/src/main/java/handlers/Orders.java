package handlers;

import dev.restate.sdk.Context;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Service;
import dev.restate.sdk.common.TerminalException;
import java.util.ArrayDeque;
import java.util.Deque;

@Service
public class Orders {
  public record Order(String item, int count, String card) {}

  /** Stands in for the API of a bank. A payment has an id, so that charging twice charges once. */
  private static String charge(String payment, String card) {
    if (card.equals("stolen")) throw new TerminalException(402, "The card was declined");
    return "charged " + card + ", payment " + payment.substring(0, 8);
  }

  @Handler
  public String place(Context ctx, Order order) {
    var shelf = StockClient.fromContext(ctx, order.item());
    String payment = ctx.random().nextUUID().toString();
    Deque<Runnable> undo = new ArrayDeque<>();
    try {
      shelf.reserve(order.count()).await();
      undo.push(() -> shelf.add(order.count()).await());
      String receipt = ctx.run("charge", String.class, () -> charge(payment, order.card()));
      return order.count() + " " + order.item() + ": " + receipt;
    } catch (TerminalException e) {
      // Other errors are tried again. These are final: declined, canceled, thrown by a callee.
      undo.forEach(Runnable::run);
      throw e;
    }
  }
}
