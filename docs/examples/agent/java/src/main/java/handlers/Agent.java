package handlers;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.restate.sdk.SharedWorkflowContext;
import dev.restate.sdk.WorkflowContext;
import dev.restate.sdk.annotation.Shared;
import dev.restate.sdk.annotation.Workflow;
import dev.restate.sdk.common.DurablePromiseKey;
import handlers.Model.Message;
import handlers.Model.Move;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

@Workflow
public class Agent {
  /**
   * What callers read: what the agent says and does, and approvals that it waits for. `approval` is
   * the id of the awakeable that a human resolves with true or false.
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Part(String text, String approval, Boolean isLast) {}

  private static final Map<String, UnaryOperator<String>> TOOLS =
      Map.of("findFlight", city -> "flight F7 to " + city, "book", flight -> "booked " + flight);

  /** Nobody but a human lets the agent spend money. */
  private static final List<String> NEEDS_APPROVAL = List.of("book");

  private static final int MOVES_MAX = 20;

  private static DurablePromiseKey<Part> part(int at) {
    return DurablePromiseKey.of("part " + at, Part.class);
  }

  @Workflow
  public String run(WorkflowContext ctx, String task) {
    List<Message> conversation = new ArrayList<>(List.of(new Message("user", task)));
    int[] parts = {0};
    Consumer<Part> show = shown -> ctx.promiseHandle(part(parts[0]++)).resolve(shown);
    for (int moves = 0; moves < MOVES_MAX; moves++) {
      Move move = ctx.run("model", Move.class, () -> Model.next(conversation));
      if (move.say() != null) {
        conversation.add(new Message("agent", move.say()));
        show.accept(new Part(move.say(), null, null));
      } else if (move.tool() != null) {
        conversation.add(new Message("tool", use(ctx, move, show)));
      } else {
        break;
      }
    }
    show.accept(new Part("", null, true));
    return String.join(" ", Model.texts(conversation, "agent"));
  }

  private static String use(WorkflowContext ctx, Move move, Consumer<Part> show) {
    String tool = move.tool();
    if (NEEDS_APPROVAL.contains(tool)) {
      var answer = ctx.awakeable(Boolean.class);
      show.accept(new Part("May I use " + tool + ": " + move.input() + "?", answer.id(), null));
      if (!answer.await()) return "was not allowed to " + tool;
    } else {
      show.accept(new Part(tool + ": " + move.input(), null, null));
    }
    UnaryOperator<String> used = TOOLS.getOrDefault(tool, input -> "There is no tool " + tool);
    return ctx.run(tool, String.class, () -> used.apply(move.input()));
  }

  /** The part of this number, as soon as there is one. */
  @Shared
  public Part read(SharedWorkflowContext ctx, int at) {
    return ctx.promise(part(at)).future().await();
  }
}
