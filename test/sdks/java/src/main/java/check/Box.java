package check;

import dev.restate.sdk.Awakeable;
import dev.restate.sdk.ObjectContext;
import dev.restate.sdk.SharedObjectContext;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Shared;
import dev.restate.sdk.annotation.VirtualObject;
import dev.restate.sdk.common.StateKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** A virtual object; `lazyDance` is told to the server as one with lazy state. */
@VirtualObject
public class Box {
  private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);
  private static final StateKey<String> TEXT = StateKey.of("text", String.class);
  private static final StateKey<byte[]> RAW = StateKey.bytes("raw");

  @Handler
  public String add(ObjectContext ctx, String n) {
    int next = ctx.get(COUNT).orElse(0) + Integer.parseInt(n);
    ctx.set(COUNT, next);
    return "" + next;
  }

  @Handler
  public String put(ObjectContext ctx, String text) {
    ctx.set(TEXT, text);
    return text;
  }

  @Shared
  public String get(SharedObjectContext ctx) {
    return ctx.get(TEXT).orElse("nothing");
  }

  @Shared
  public List<String> keys(SharedObjectContext ctx) {
    return new ArrayList<>(new TreeSet<>(ctx.stateKeys()));
  }

  @Handler
  public List<String> dance(ObjectContext ctx) {
    return danced(ctx);
  }

  @Handler
  public List<String> lazyDance(ObjectContext ctx) {
    return danced(ctx);
  }

  private static List<String> danced(ObjectContext ctx) {
    List<String> seen = new ArrayList<>();
    seen.add(ctx.key() + " " + ctx.get(COUNT).isPresent() + " " + ctx.get(TEXT).orElse("-"));
    ctx.set(COUNT, 5);
    ctx.set(RAW, new byte[] {0, 1, (byte) 200});
    seen.add(ctx.get(COUNT).orElse(0) + " " + ctx.get(RAW).orElse(new byte[0]).length);
    seen.add("" + new TreeSet<>(ctx.stateKeys()));
    ctx.sleep(Duration.ofMillis(400));
    ctx.clear(COUNT);
    seen.add(ctx.get(COUNT).isPresent() + " " + new TreeSet<>(ctx.stateKeys()));
    ctx.clearAll();
    seen.add(ctx.get(RAW).isPresent() + " " + ctx.stateKeys().size());
    ctx.set(TEXT, "danced");
    return seen;
  }

  /** Holds the key until its awakeable, kept in the state of another box, is completed. */
  @Handler
  public String hold(ObjectContext ctx, String other) {
    Awakeable<String> it = ctx.awakeable(String.class);
    ctx.call(Ask.box(other, "put", it.id())).await();
    return it.await();
  }
}
