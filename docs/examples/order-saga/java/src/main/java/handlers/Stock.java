package handlers;

import dev.restate.sdk.ObjectContext;
import dev.restate.sdk.SharedObjectContext;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Shared;
import dev.restate.sdk.annotation.VirtualObject;
import dev.restate.sdk.common.StateKey;
import dev.restate.sdk.common.TerminalException;

@VirtualObject
public class Stock {
  private static final StateKey<Integer> LEFT = StateKey.of("left", Integer.class);

  @Handler
  public int add(ObjectContext ctx, int count) {
    int left = ctx.get(LEFT).orElse(0) + count;
    ctx.set(LEFT, left);
    return left;
  }

  @Handler
  public void reserve(ObjectContext ctx, int count) {
    int left = ctx.get(LEFT).orElse(0);
    if (left < count) throw new TerminalException(409, "Only " + left + " left");
    ctx.set(LEFT, left - count);
  }

  @Shared
  public int left(SharedObjectContext ctx) {
    return ctx.get(LEFT).orElse(0);
  }
}
