import {
  serve,
  workflow,
  type WorkflowContext,
  type WorkflowSharedContext,
} from "@restatedev/restate-sdk";

type Message = { readonly role: "user" | "tool" | "agent"; readonly text: string };
type Move = { readonly tool: string; readonly input: string } | { readonly say: string } | "done";

/** What callers read: what the agent says and does, and approvals that it waits for. */
interface Part {
  readonly text: string;
  /** The id of the awakeable that a human resolves with true or false. */
  readonly approval?: string;
  readonly isLast?: boolean;
}

/** Stands in for a language model: it gets the conversation, and answers with its next move. */
function model(conversation: readonly Message[]): Move {
  const heard = conversation.filter(({ role }) => role === "tool").map(({ text }) => text);
  const said = conversation.filter(({ role }) => role === "agent").length;
  if (heard.length === 0) return { tool: "findFlight", input: conversation[0]?.text ?? "" };
  if (heard.length === 1) return { tool: "book", input: heard[0] ?? "" };
  return [{ say: "Here is what I did:" }, { say: `${heard[1]}.` }][said] ?? "done";
}

const tools: Readonly<Record<string, (input: string) => string>> = {
  findFlight: (city) => `flight F7 to ${city}`,
  book: (flight) => `booked ${flight}`,
};
/** Nobody but a human lets the agent spend money. */
const NEEDS_APPROVAL = ["book"];
const MOVES_MAX = 20;

const agent = workflow({
  name: "Agent",
  handlers: {
    run: async (ctx: WorkflowContext, task: string): Promise<string> => {
      const conversation: Message[] = [{ role: "user", text: task }];
      let parts = 0;
      const show = (part: Part) => ctx.promise<Part>(`part ${parts++}`).resolve(part);
      for (let moves = 0; moves < MOVES_MAX; moves++) {
        const move = await ctx.run("model", () => model(conversation));
        if (move === "done") break;
        if ("say" in move) {
          conversation.push({ role: "agent", text: move.say });
          await show({ text: move.say });
          continue;
        }
        const text = await use(ctx, move, show);
        conversation.push({ role: "tool", text });
      }
      await show({ text: "", isLast: true });
      return conversation.filter(({ role }) => role === "agent").map(({ text }) => text).join(" ");
    },
    /** The part of this number, as soon as there is one. */
    read: async (ctx: WorkflowSharedContext, at: number): Promise<Part> =>
      await ctx.promise<Part>(`part ${at}`),
  },
});

async function use(
  ctx: WorkflowContext,
  { tool, input }: { readonly tool: string; readonly input: string },
  show: (part: Part) => Promise<void>,
): Promise<string> {
  if (NEEDS_APPROVAL.includes(tool)) {
    const { id, promise } = ctx.awakeable<boolean>();
    await show({ text: `May I use ${tool}: ${input}?`, approval: id });
    if (!await promise) return `was not allowed to ${tool}`;
  } else await show({ text: `${tool}: ${input}` });
  return await ctx.run(tool, () => tools[tool]?.(input) ?? `There is no tool ${tool}`);
}

serve({ services: [agent] });
