import { type Context, serve, service } from "@restatedev/restate-sdk";

/** Stands in for what differs from attempt to attempt, or must not be done twice. */
const clock = { now: (): string => new Date().toJSON() };

const greeter = service({
  name: "Greeter",
  handlers: {
    greet: async (ctx: Context, name: string): Promise<string> => {
      // A step: its result is stored, and no later attempt does it again.
      const time = await ctx.run("time", () => clock.now());
      // It outlives this process and the server.
      await ctx.sleep({ seconds: 1 });
      return `Hello ${name}, it was ${time}`;
    },
  },
});

serve({ services: [greeter] });
