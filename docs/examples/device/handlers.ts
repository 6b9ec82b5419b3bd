import {
  handlers,
  object,
  type ObjectContext,
  type ObjectSharedContext,
  rpc,
  serve,
} from "@restatedev/restate-sdk";

/** A device that sends nothing for so long is offline. */
const OFFLINE_AFTER = { seconds: 2 };

interface Status {
  readonly count: number;
  readonly isOnline: boolean;
}

const device = object({
  name: "Device",
  handlers: {
    /** Something that the device measured. Sets the timer anew. */
    measured: async (ctx: ObjectContext, value: number): Promise<Status> => {
      const count = ((await ctx.get<number>("count")) ?? 0) + 1;
      ctx.set("count", count);
      ctx.set("last", value);
      ctx.set("isOnline", true);
      ctx.objectSendClient<typeof device>({ name: "Device" }, ctx.key)
        .timeOver(count, rpc.sendOpts({ delay: OFFLINE_AFTER }));
      return { count, isOnline: true };
    },
    /** The timer of a measurement. It says nothing if there was a later one. */
    timeOver: async (ctx: ObjectContext, count: number): Promise<void> => {
      if (await ctx.get<number>("count") === count) ctx.set("isOnline", false);
    },
    status: handlers.object.shared(async (ctx: ObjectSharedContext): Promise<Status> => ({
      count: (await ctx.get<number>("count")) ?? 0,
      isOnline: (await ctx.get<boolean>("isOnline")) ?? false,
    })),
  },
});

serve({ services: [device] });
