import {
  type Context,
  handlers,
  object,
  type ObjectContext,
  type ObjectSharedContext,
  serve,
  service,
  TerminalError,
} from "@restatedev/restate-sdk";

interface Order {
  readonly item: string;
  readonly count: number;
  readonly card: string;
}

/** Stands in for the API of a bank. A payment has an id, so that charging twice charges once. */
const bank = {
  charge(payment: string, card: string): string {
    if (card === "stolen") throw new TerminalError("The card was declined", { errorCode: 402 });
    return `charged ${card}, payment ${payment.slice(0, 8)}`;
  },
};

const stock = object({
  name: "Stock",
  handlers: {
    add: async (ctx: ObjectContext, count: number): Promise<number> => {
      const left = ((await ctx.get<number>("left")) ?? 0) + count;
      ctx.set("left", left);
      return left;
    },
    reserve: async (ctx: ObjectContext, count: number): Promise<void> => {
      const left = (await ctx.get<number>("left")) ?? 0;
      if (left < count) throw new TerminalError(`Only ${left} left`, { errorCode: 409 });
      ctx.set("left", left - count);
    },
    left: handlers.object.shared(
      async (ctx: ObjectSharedContext): Promise<number> => (await ctx.get<number>("left")) ?? 0,
    ),
  },
});

const orders = service({
  name: "Orders",
  handlers: {
    place: async (ctx: Context, { item, count, card }: Order): Promise<string> => {
      const shelf = ctx.objectClient<typeof stock>({ name: "Stock" }, item);
      const payment = ctx.rand.uuidv4();
      const undo: (() => Promise<unknown>)[] = [];
      try {
        await shelf.reserve(count);
        undo.push(() => shelf.add(count));
        const receipt = await ctx.run("charge", () => bank.charge(payment, card));
        return `${count} ${item}: ${receipt}`;
      } catch (error) {
        // Other errors are tried again. These are final: declined, canceled, thrown by a callee.
        if (!(error instanceof TerminalError)) throw error;
        for (const step of undo.reverse()) await step();
        throw error;
      }
    },
  },
});

serve({ services: [orders, stock] });
