package check;

import dev.restate.common.Output;
import dev.restate.common.Request;
import dev.restate.common.Target;
import dev.restate.sdk.Awakeable;
import dev.restate.sdk.Context;
import dev.restate.sdk.DurableFuture;
import dev.restate.sdk.InvocationHandle;
import dev.restate.sdk.Select;
import dev.restate.sdk.annotation.Accept;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Raw;
import dev.restate.sdk.annotation.Service;
import dev.restate.sdk.common.RetryPolicy;
import dev.restate.sdk.common.TerminalException;
import dev.restate.sdk.common.TimeoutException;
import dev.restate.serde.Serde;
import dev.restate.serde.TypeTag;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A plain service: one handler a feature of the SDK. */
@Service
public class Kitchen {
  public record Person(String name, int age, List<String> tags) {}

  public record Failing(int code, String message) {}

  private static final Map<String, Integer> TRIES = new ConcurrentHashMap<>();
  private static final RetryPolicy QUICK =
      RetryPolicy.exponential(Duration.ofMillis(20), 1.5f).setMaxDelay(Duration.ofMillis(100));

  private static int tried(String what) {
    return TRIES.merge(what, 1, Integer::sum);
  }

  @Handler
  public String echo(Context ctx, String text) {
    return text;
  }

  @Handler
  public Person person(Context ctx, Person person) {
    return new Person(person.name() + "!", person.age() + 1, person.tags());
  }

  @Handler
  @Raw(contentType = "application/x-bytes")
  public byte[] bytes(
      Context ctx,
      @Accept("application/*") @Raw(contentType = "application/x-bytes") byte[] body) {
    byte[] turned = new byte[body.length];
    for (int i = 0; i < body.length; i++) turned[i] = body[body.length - 1 - i];
    return turned;
  }

  @Handler
  public void nothing(Context ctx) {}

  @Handler
  public String noInput(Context ctx) {
    return "none";
  }

  @Handler
  public void noOutput(Context ctx, String text) {}

  @Handler
  public String headers(Context ctx) {
    Map<String, String> own = new TreeMap<>();
    ctx.request()
        .headers()
        .forEach((k, v) -> { if (k.toLowerCase().startsWith("x-check")) own.put(k, v); });
    return own + " " + ctx.request().invocationId().toString().startsWith("inv_1");
  }

  @Handler
  public String steps(Context ctx, String id) {
    String named = ctx.run("named", String.class, () -> "a" + tried("steps" + id));
    String unnamed = ctx.run(String.class, () -> "b");
    ctx.run("void", () -> {});
    DurableFuture<String> left = ctx.runAsync("left", String.class, () -> "l");
    DurableFuture<Integer> right = ctx.runAsync("right", Integer.class, QUICK, () -> 7);
    DurableFuture.all(left, right).await();
    byte[] raw = ctx.run("raw", Serde.RAW, () -> new byte[] {1, 0, (byte) 255});
    return named + unnamed + left.await() + right.await() + raw.length + raw[2];
  }

  @Handler
  public String flaky(Context ctx, String id) {
    return ctx.run("flaky", String.class, QUICK.setMaxAttempts(10), () -> {
      int n = tried(id);
      if (n < 3) throw new IllegalStateException("not yet " + n);
      return "tries " + n;
    });
  }

  @Handler
  public String exhausted(Context ctx, String id) {
    RetryPolicy twice =
        RetryPolicy.exponential(Duration.ofMillis(10), 1f).setMaxAttempts(2);
    try {
      ctx.run("never", twice, () -> { throw new IllegalStateException("no " + tried(id)); });
      return "no failure";
    } catch (TerminalException e) {
      return e.getCode() + " " + e.getMessage();
    }
  }

  @Handler
  public String doomed(Context ctx) {
    return ctx.run("doomed", String.class, () -> { throw new TerminalException(418, "teapot"); });
  }

  @Handler
  public String stumble(Context ctx, String id) {
    ctx.run("before", () -> {});
    int n = tried(id);
    if (n < 3) throw new IllegalStateException("stumbled " + n);
    ctx.run("after", () -> {});
    return n >= 3 ? "went on" : "never";
  }

  @Handler
  public String always(Context ctx) {
    throw new IllegalStateException("always");
  }

  @Handler
  public String fail(Context ctx, Failing how) {
    throw new TerminalException(how.code(), how.message());
  }

  @Handler
  public String nap(Context ctx, String ms) {
    ctx.sleep(Duration.ofMillis(Long.parseLong(ms)));
    ctx.timer("named nap", Duration.ofMillis(5)).await();
    return "slept";
  }

  @Handler
  public int fan(Context ctx, int n) {
    List<DurableFuture<?>> all = new ArrayList<>();
    List<DurableFuture<String>> each = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      DurableFuture<String> one = ctx.call(Ask.kitchen("echo", "" + i));
      all.add(one);
      each.add(one);
    }
    DurableFuture.all(all).await();
    int sum = 0;
    for (DurableFuture<String> one : each) sum += Integer.parseInt(one.await());
    return sum;
  }

  @Handler
  public List<String> calls(Context ctx, String id) {
    List<String> seen = new ArrayList<>();
    seen.add(ctx.call(Ask.kitchen("echo", "called")).await());
    seen.add(ctx.call(Ask.kitchen("headers", null).header("x-check", "h")).await());
    seen.add(ctx.call(Ask.box(id, "add", "1").idempotencyKey("k" + id)).await());
    seen.add(ctx.call(Ask.box(id, "add", "1").idempotencyKey("k" + id)).await());
    InvocationHandle<String> sent =
        ctx.send(Ask.kitchen("echo", "sent").header("x-check", "s").idempotencyKey("s" + id));
    seen.add("" + sent.invocationId().startsWith("inv_1"));
    seen.add(sent.attach().await());
    InvocationHandle<String> late =
        ctx.send(Ask.kitchen("echo", "late"), Duration.ofMillis(150));
    Output<String> early = late.getOutput();
    seen.add("ready " + early.isReady());
    seen.add(ctx.invocationHandle(late.invocationId(), String.class).attach().await());
    seen.add(ctx.invocationHandle(late.invocationId(), String.class).getOutput().getValue());
    try {
      ctx.call(Ask.kitchen("doomed", null)).await();
    } catch (TerminalException e) {
      seen.add(e.getCode() + " " + e.getMessage());
    }
    byte[] raw = ctx.call(Request.of(
        Target.service("Kitchen", "bytes"), new byte[] {1, 2, 3})).await();
    seen.add("" + raw[0] + raw.length);
    return seen;
  }

  @Handler
  public String absent(Context ctx) {
    return ctx.call(Request.of(
        Target.service("Nowhere", "h"), new byte[0])).await().length + "";
  }

  /** Puts the id of an awakeable in a box and waits for it. */
  @Handler
  public String await(Context ctx, String id) {
    Awakeable<String> it = ctx.awakeable(String.class);
    ctx.call(Ask.box(id, "put", it.id())).await();
    try {
      return "got " + it.await();
    } catch (TerminalException e) {
      ctx.run("compensate", () -> {});
      ctx.call(Ask.box(id, "put", "compensated " + e.getCode() + " " + e.getMessage())).await();
      throw e;
    }
  }

  @Handler
  public void resolve(Context ctx, String awakeable) {
    ctx.awakeableHandle(awakeable).resolve(String.class, "by handler");
  }

  @Handler
  public void reject(Context ctx, String awakeable) {
    ctx.awakeableHandle(awakeable).reject("no by handler");
  }

  @Handler
  public List<String> cancels(Context ctx, String id) {
    List<String> seen = new ArrayList<>();
    var call = ctx.call(Ask.kitchen("await", id));
    call.invocationId();
    ctx.sleep(Duration.ofMillis(300));
    call.cancel();
    try {
      call.await();
    } catch (TerminalException e) {
      seen.add(e.getCode() + " " + e.getMessage());
    }
    InvocationHandle<String> sent = ctx.send(Ask.kitchen("await", id + "-sent"));
    ctx.sleep(Duration.ofMillis(300));
    sent.cancel();
    try {
      sent.attach().await();
    } catch (TerminalException e) {
      seen.add(e.getCode() + " " + e.getMessage());
    }
    seen.add(ctx.call(Ask.box(id, "get", null)).await());
    return seen;
  }

  @Handler
  public List<String> choose(Context ctx) {
    List<String> seen = new ArrayList<>();
    Awakeable<String> never = ctx.awakeable(String.class);
    DurableFuture<Void> soon = ctx.timer("soon", Duration.ofMillis(50));
    seen.add(Select.<String>select()
        .when(never, s -> "awakeable")
        .when(soon, v -> "timer")
        .await());
    DurableFuture<String> quick = ctx.runAsync("quick", String.class, () -> "run");
    seen.add("any " + DurableFuture.any(never, quick).await());
    try {
      never.await(Duration.ofMillis(40));
    } catch (TimeoutException e) {
      seen.add("timeout");
    }
    DurableFuture<String> bad =
        ctx.runAsync("bad", String.class, () -> { throw new TerminalException(499, "bad"); });
    seen.add(bad.mapFailure(e -> "mapped " + e.getCode()).await());
    seen.add(ctx.call(Ask.kitchen("echo", "map")).map(s -> s + "ped").await());
    try {
      DurableFuture.all(soon, bad).await();
    } catch (TerminalException e) {
      seen.add("all " + e.getCode());
    }
    return seen;
  }

  @Handler
  public boolean random(Context ctx) {
    UUID first = ctx.random().nextUUID();
    int second = ctx.random().nextInt();
    String kept = ctx.run("keep", String.class, () -> first + "/" + second);
    ctx.sleep(Duration.ofMillis(500));
    return kept.equals(first + "/" + second);
  }

  @Handler
  public int large(Context ctx, int bytes) {
    String text = ctx.run("large", String.class, () -> "y".repeat(bytes));
    ctx.sleep(Duration.ofMillis(300));
    return ctx.call(Ask.kitchen("echo", text)).await().length();
  }

  /** Two runs with a wait between, to stop the server or the endpoint in. */
  @Handler
  public String halves(Context ctx, String id) {
    String first = ctx.run("first", String.class, () -> "first" + tried("halves" + id));
    Awakeable<String> it = ctx.awakeable(TypeTag.of(String.class));
    ctx.call(Ask.box(id, "put", it.id())).await();
    return first + " " + it.await() + " " + ctx.run("second", String.class, () -> "second");
  }

  /** A run that takes its time, to stop the server or the endpoint in. */
  @Handler
  public String slow(Context ctx, int ms) {
    return ctx.run("slow", String.class, () -> { Thread.sleep(ms); return "slow"; });
  }
}
