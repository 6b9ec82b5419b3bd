import {
  handlers,
  object,
  type ObjectContext,
  type ObjectSharedContext,
  rpc,
  serve,
} from "@restatedev/restate-sdk";

const DAY_MS = 24 * 60 * 60 * 1000;

/** When it runs: at an hour of UTC each night or, to watch it, every so many seconds. */
type Plan = { readonly hour: number } | { readonly everySeconds: number };

function delayOf(plan: Plan, now: number): number {
  if ("everySeconds" in plan) return plan.everySeconds * 1000;
  const due = new Date(now).setUTCHours(plan.hour, 0, 0, 0);
  return due > now ? due - now : due + DAY_MS - now;
}

/** Stands in for what a report is made of. */
async function makeReport(name: string, number: number): Promise<string> {
  return `${name}, report ${number}`;
}

const report = object({
  name: "Report",
  handlers: {
    /** Begins, or goes on by another plan: the run that waits belongs to a plan that is over. */
    start: async (ctx: ObjectContext, plan: Plan): Promise<void> => {
      ctx.set("plan", plan);
      await next(ctx, plan);
    },
    stop: async (ctx: ObjectContext): Promise<void> => {
      ctx.clear("plan");
      ctx.clear("due");
    },
    run: async (ctx: ObjectContext, due: number): Promise<void> => {
      if (await ctx.get<number>("due") !== due) return;
      // First of all: a report that fails must not be the last one.
      await next(ctx, (await ctx.get<Plan>("plan"))!);
      const reports = (await ctx.get<string[]>("reports")) ?? [];
      const made = await ctx.run("make", () => makeReport(ctx.key, reports.length + 1));
      ctx.set("reports", [...reports, made]);
    },
    reports: handlers.object.shared(
      async (ctx: ObjectSharedContext): Promise<string[]> =>
        (await ctx.get<string[]>("reports")) ?? [],
    ),
  },
});

/** Sends this object its next run. */
async function next(ctx: ObjectContext, plan: Plan): Promise<void> {
  const now = await ctx.date.now();
  const milliseconds = delayOf(plan, now);
  const due = now + milliseconds;
  ctx.set("due", due);
  ctx.objectSendClient<typeof report>({ name: "Report" }, ctx.key)
    .run(due, rpc.sendOpts({ delay: { milliseconds } }));
}

serve({ services: [report] });
