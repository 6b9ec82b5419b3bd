package example;

import dev.restate.sdk.Context;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Service;
import dev.restate.sdk.common.TerminalException;
import java.util.ArrayDeque;

/** The handlers of handlers.ts in Java. */
@Service
public class Orders {
  public record Order(String item, int count, String card) {}

  @Handler
  public String place(Context ctx, Order order) {
    String payment = ctx.random().nextUUID().toString();
    var undo = new ArrayDeque<Runnable>();
    var stock = StockClient.fromContext(ctx, order.item());
    try {
      stock.reserve(order.count()).await();
      undo.push(() -> stock.add(order.count()).await());
      String receipt = ctx.run("charge", String.class, () -> charge(payment, order.card()));
      return order.count() + " " + order.item() + ": " + receipt;
    } catch (TerminalException why) {
      // Other errors are tried again. These are final: declined, canceled, thrown by a callee.
      undo.forEach(Runnable::run);
      throw why;
    }
  }

  /** Stands in for the API of a bank. A payment has an id, so that charging twice charges once. */
  private static String charge(String payment, String card) {
    if (card.equals("stolen")) throw new TerminalException(402, "The card was declined");
    return "charged " + card + ", payment " + payment.substring(0, 8);
  }
}
