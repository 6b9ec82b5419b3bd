package handlers;

import dev.restate.sdk.ObjectContext;
import dev.restate.sdk.SharedObjectContext;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Shared;
import dev.restate.sdk.annotation.VirtualObject;
import dev.restate.sdk.common.StateKey;
import java.time.Duration;

@VirtualObject
public class Device {
  /** A device that sends nothing for so long is offline. */
  private static final Duration OFFLINE_AFTER = Duration.ofSeconds(2);

  private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);
  private static final StateKey<Double> LAST = StateKey.of("last", Double.class);
  private static final StateKey<Boolean> IS_ONLINE = StateKey.of("isOnline", Boolean.class);

  public record Status(int count, boolean isOnline) {}

  /** Something that the device measured. Sets the timer anew. */
  @Handler
  public Status measured(ObjectContext ctx, double value) {
    int count = ctx.get(COUNT).orElse(0) + 1;
    ctx.set(COUNT, count);
    ctx.set(LAST, value);
    ctx.set(IS_ONLINE, true);
    DeviceClient.fromContext(ctx, ctx.key()).send().timeOver(count, OFFLINE_AFTER);
    return new Status(count, true);
  }

  /** The timer of a measurement. It does nothing if there was a later one. */
  @Handler
  public void timeOver(ObjectContext ctx, int count) {
    if (ctx.get(COUNT).orElse(0) == count) ctx.set(IS_ONLINE, false);
  }

  @Shared
  public Status status(SharedObjectContext ctx) {
    return new Status(ctx.get(COUNT).orElse(0), ctx.get(IS_ONLINE).orElse(false));
  }
}
