package check;

import dev.restate.common.Output;
import dev.restate.sdk.SharedWorkflowContext;
import dev.restate.sdk.WorkflowContext;
import dev.restate.sdk.annotation.Shared;
import dev.restate.sdk.annotation.Workflow;
import dev.restate.sdk.common.DurablePromiseKey;
import dev.restate.sdk.common.StateKey;
import dev.restate.sdk.common.TerminalException;

/** A workflow that waits for one promise and completes another. */
@Workflow
public class Flow {
  private static final StateKey<String> STAGE = StateKey.of("stage", String.class);
  private static final DurablePromiseKey<String> GO = DurablePromiseKey.of("go", String.class);
  private static final DurablePromiseKey<String> DONE = DurablePromiseKey.of("done", String.class);

  @Workflow
  public String run(WorkflowContext ctx, String input) {
    ctx.set(STAGE, "waiting");
    try {
      Output<String> early = ctx.promise(GO).peek();
      String went = ctx.promise(GO).future().await();
      ctx.set(STAGE, "went");
      ctx.promiseHandle(DONE).resolve("done " + went);
      return input + " " + went + " " + early.isReady() + " " + ctx.promise(GO).peek().getValue();
    } catch (TerminalException e) {
      ctx.set(STAGE, "rejected");
      ctx.promiseHandle(DONE).reject("done badly");
      throw e;
    }
  }

  @Shared
  public String go(SharedWorkflowContext ctx, String text) {
    ctx.promiseHandle(GO).resolve(text);
    return "told";
  }

  @Shared
  public String stop(SharedWorkflowContext ctx, String text) {
    ctx.promiseHandle(GO).reject(text);
    return "told";
  }

  @Shared
  public String done(SharedWorkflowContext ctx) {
    return ctx.promise(DONE).future().await();
  }

  @Shared
  public String peek(SharedWorkflowContext ctx) {
    return ctx.promise(DONE).peek().isReady() + " " + ctx.key();
  }

  @Shared
  public String stage(SharedWorkflowContext ctx) {
    return ctx.get(STAGE).orElse("none");
  }
}
