package check;

import dev.restate.client.Client;
import dev.restate.client.IngressException;
import dev.restate.client.RequestOptions;
import dev.restate.client.Response;
import dev.restate.client.SendResponse;
import dev.restate.common.Output;
import dev.restate.common.Request;
import dev.restate.common.Target;
import dev.restate.sdk.Context;
import dev.restate.sdk.annotation.Handler;
import dev.restate.sdk.annotation.Service;
import dev.restate.sdk.common.RetryPolicy;
import dev.restate.serde.TypeRef;
import dev.restate.serde.TypeTag;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Uses all of the ingress client, in a run of a handler, and tells what it saw. */
@Service
public class Driver {
  public record Where(String ingress, String id) {}

  @Handler
  public Map<String, String> all(Context ctx, Where where) {
    return ctx.run("drive", TypeTag.of(new Told()), ONCE, () -> drive(where));
  }

  private static final RetryPolicy ONCE =
      RetryPolicy.exponential(Duration.ofMillis(1), 1f).setMaxAttempts(1);

  private static final class Told extends TypeRef<Map<String, String>> {}

  private static Map<String, String> drive(Where where) throws Exception {
    Client client = Client.connect(where.ingress());
    String id = where.id();
    Map<String, String> seen = new LinkedHashMap<>();
    seen.put("call", told(client.call(Ask.kitchen("echo", "hi"))));
    seen.put("call headers", told(client.call(Ask.kitchen("headers", null).header("x-check", "c"))));
    seen.put("call object", told(client.call(Ask.box(id, "add", "2"))));
    seen.put("call idempotent", told(client.call(Ask.box(id, "add", "2").idempotencyKey("i" + id))));
    seen.put("call again", told(client.call(Ask.box(id, "add", "2").idempotencyKey("i" + id))));
    seen.put("call async", told(client.callAsync(Ask.kitchen("echo", "async")).get()));
    seen.put("call raw", "" + client.call(
        Request.of(Target.service("Kitchen", "bytes"), new byte[] {1, 2})).response().length);
    seen.put("call fails", failed(() -> client.call(Ask.kitchen("doomed", null))));
    seen.put("call unknown", failed(() -> client.call(Ask.kitchen("nope", "x"))));
    seen.put("call private", failed(() -> client.call(Request.of(
        Target.service("Hidden", "whisper"), TypeTag.of(String.class), TypeTag.of(String.class), "x"))));
    sends(client, id, seen);
    awakeables(client, id, seen);
    workflows(client, id, seen);
    return seen;
  }

  private static void sends(Client client, String id, Map<String, String> seen) {
    SendResponse<String> sent = client.send(Ask.kitchen("echo", "sent"));
    seen.put("send", sent.statusCode() + " " + sent.sendStatus() + " " + sent.invocationId().startsWith("inv_1"));
    SendResponse<String> first = client.send(Ask.kitchen("echo", "once").idempotencyKey("o" + id));
    SendResponse<String> second = client.send(Ask.kitchen("echo", "once").idempotencyKey("o" + id));
    seen.put("send again", second.statusCode() + " " + second.sendStatus() + " "
        + first.invocationId().equals(second.invocationId()));
    seen.put("send attach", told(second.attach()));
    var handle = client.idempotentInvocationHandle(
        Target.service("Kitchen", "echo"), "o" + id, String.class);
    seen.put("idempotent attach", told(handle.attach()));
    seen.put("idempotent output", out(handle.getOutput()));
    SendResponse<String> late = client.send(
        Ask.kitchen("echo", "late").idempotencyKey("l" + id), Duration.ofMillis(600));
    seen.put("late output", out(late.getOutput()));
    seen.put("late attach", told(client.invocationHandle(late.invocationId(), String.class)
        .attach(RequestOptions.builder().header("x-check", "a").build())));
    seen.put("late output after", out(late.getOutput()));
    seen.put("attach unknown", failed(() -> client.idempotentInvocationHandle(
        Target.service("Kitchen", "echo"), "never" + id, String.class).attach()));
    seen.put("output unknown", failed(() -> client.idempotentInvocationHandle(
        Target.service("Kitchen", "echo"), "never" + id, String.class).getOutput()));
    seen.put("attach malformed",
        failed(() -> client.invocationHandle("inv_nonsense", String.class).attach()));
    SendResponse<String> bad = client.send(Ask.kitchen("doomed", null).idempotencyKey("d" + id));
    seen.put("attach failed", failed(bad::attach));
    seen.put("output failed", failed(bad::getOutput));
  }

  private static void awakeables(Client client, String id, Map<String, String> seen) throws Exception {
    for (boolean good : List.of(true, false)) {
      String key = id + good;
      SendResponse<String> waits = client.send(Ask.kitchen("await", key).idempotencyKey(key));
      String awakeable = "nothing";
      for (int i = 0; i < 400 && !awakeable.startsWith("sign_1"); i++) {
        Thread.sleep(50);
        awakeable = client.call(Ask.box(key, "get", null)).response();
      }
      var handle = client.awakeableHandle(awakeable);
      Response<Void> done = good ? handle.resolve(String.class, "woken") : handle.reject("not woken");
      seen.put("awakeable " + good, done.statusCode() + "");
      seen.put("awoken " + good, good ? told(waits.attach()) : failed(waits::attach));
    }
    seen.put("awakeable malformed", failed(() -> client.awakeableHandle("sign_1x").reject("x")));
  }

  private static void workflows(Client client, String id, Map<String, String> seen) {
    SendResponse<String> run = client.send(Ask.flow(id, "run", "in"));
    seen.put("workflow submit", run.statusCode() + " " + run.sendStatus());
    SendResponse<String> again = client.send(Ask.flow(id, "run", "other"));
    seen.put("workflow again", again.statusCode() + " " + again.sendStatus() + " "
        + run.invocationId().equals(again.invocationId()));
    seen.put("workflow call again", failed(() -> client.callAsync(Ask.flow(id, "run", "third"))
        .orTimeout(20, java.util.concurrent.TimeUnit.SECONDS).join()));
    var handle = client.workflowHandle("Flow", id, String.class);
    seen.put("workflow output", out(handle.getOutput()));
    seen.put("workflow go", told(client.call(Ask.flow(id, "go", "now"))));
    seen.put("workflow attach", told(handle.attach()));
    seen.put("workflow output after", out(handle.getOutput()));
    seen.put("workflow unknown", failed(() -> client.workflowHandle("Flow", "no" + id, String.class).attach()));
    seen.put("workflow output unknown",
        failed(() -> client.workflowHandle("Flow", "no" + id, String.class).getOutput()));
  }

  private static String told(Response<String> response) {
    return response.statusCode() + " " + response.response();
  }

  private static String out(Response<Output<String>> response) {
    Output<String> output = response.response();
    return response.statusCode() + " " + (output.isReady() ? output.getValue() : "not ready");
  }

  private static String failed(Supplier<Object> asked) {
    try {
      Object answer = asked.get();
      return "no failure: " + answer.getClass().getSimpleName();
    } catch (Exception e) {
      Throwable cause = e instanceof IngressException ? e : e.getCause();
      if (cause instanceof IngressException ie) {
        return ie.getStatusCode() + " " + new String(ie.getResponseBody(), StandardCharsets.UTF_8);
      }
      return "" + e;
    }
  }
}
