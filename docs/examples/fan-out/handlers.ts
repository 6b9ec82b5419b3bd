import {
  type Context,
  RestatePromise,
  serve,
  service,
  TerminalError,
} from "@restatedev/restate-sdk";

const ITEMS_MAX = 10_000;

interface Summary {
  readonly done: number;
  readonly failed: readonly string[];
}

const item = service({
  name: "Item",
  handlers: {
    /** Stands in for the work of one item. Every 250th has no picture, and never will. */
    resize: async (ctx: Context, at: number): Promise<string> =>
      await ctx.run("resize", () => {
        if (at % 250 === 0) throw new TerminalError(`Picture ${at} does not exist`);
        return `picture-${at}.webp`;
      }),
  },
});

const batch = service({
  name: "Batch",
  handlers: {
    /** All items at once; limits of the service `Item` say how many of them run. */
    resizeAll: async (ctx: Context, count: number): Promise<Summary> => {
      if (count > ITEMS_MAX) throw new TerminalError(`At most ${ITEMS_MAX} items`);
      const client = ctx.serviceClient<typeof item>({ name: "Item" });
      const calls = Array.from({ length: count }, (_, at) => client.resize(at + 1));
      const outcomes = await RestatePromise.allSettled(calls);
      const failed = outcomes.flatMap((one) =>
        one.status === "rejected" ? [one.reason.message] : []
      );
      return { done: count - failed.length, failed };
    },
  },
});

serve({ services: [batch, item] });
