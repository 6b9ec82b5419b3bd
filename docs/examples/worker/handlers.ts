import { type Context, serve, service } from "@restatedev/restate-sdk";

interface Signup {
  readonly mail: string;
}

/** Stands in for what sends mails. */
const send = (mail: string, text: string) => console.log(`to ${mail}: ${text}`);

const signups = service({
  name: "Signups",
  handlers: {
    welcome: async (ctx: Context, { mail }: Signup): Promise<string> => {
      await ctx.run("welcome", () => send(mail, "Welcome"));
      await ctx.sleep({ seconds: 1 });
      await ctx.run("tips", () => send(mail, "How to begin"));
      return `two mails for ${mail}`;
    },
  },
});

serve({ services: [signups] });
