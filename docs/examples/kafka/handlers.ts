import {
  handlers,
  object,
  type ObjectContext,
  type ObjectSharedContext,
  serve,
} from "@restatedev/restate-sdk";

interface Reading {
  readonly celsius: number;
}

interface Summary {
  readonly readings: number;
  readonly highest: number | null;
}

/** One object for each key of the topic. Records of one key come one after the other, in their order. */
const sensor = object({
  name: "Sensor",
  handlers: {
    read: async (ctx: ObjectContext, { celsius }: Reading): Promise<void> => {
      const { readings, highest } = await summaryOf(ctx);
      const summary: Summary = {
        readings: readings + 1,
        highest: Math.max(celsius, highest ?? celsius),
      };
      ctx.set("summary", summary);
    },
    summary: handlers.object.shared(
      (ctx: ObjectSharedContext): Promise<Summary> => summaryOf(ctx),
    ),
  },
});

async function summaryOf(ctx: ObjectSharedContext): Promise<Summary> {
  return (await ctx.get<Summary>("summary")) ?? { readings: 0, highest: null };
}

serve({ services: [sensor] });
