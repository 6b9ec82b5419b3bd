// Handlers whose names of steps, failures, descriptions and metadata are hostile.
// Usage: node _corpus.mjs PORT h2|h1 FOLDER
import { restate, serve } from "../support/sdk.mjs";

const MARKUP = `<img src=x onerror="document.title='run'"><script>throw 1</script>&amp;`;
const BIDI = "\u202Egnp.\u2066exe\u200F";

const never = (ctx) => ctx.sleep({ hours: 1 });

const corpus = restate.service({
  name: "Corpus",
  description: MARKUP + BIDI,
  metadata: { [MARKUP]: BIDI, long: "long ".repeat(20_000) },
  handlers: {
    // A step, a sleep and a call that are named as the caller likes.
    walk: async (ctx, { name, key }) => {
      const kept = await ctx.run(name, () => name);
      await ctx.sleep(1, name);
      await ctx.objectClient({ name: "Pot" }, key).put({ name, value: kept });
      return kept;
    },
    refuse: async (_ctx, message) => {
      throw new restate.TerminalError(message, { errorCode: 418 });
    },
    retries: async (ctx, name) => {
      await ctx.run(name, () => {
        throw new Error(name);
      });
    },
    bytes: restate.handlers.handler(
      { input: restate.serde.binary, output: restate.serde.binary },
      async (_ctx, bytes) => bytes,
    ),
  },
});

const pot = restate.object({
  name: "Pot",
  handlers: {
    put: async (ctx, { name, value }) => ctx.set(name, value),
    hold: never,
  },
});

const plan = restate.workflow({
  name: "Plan",
  handlers: {
    run: async (ctx, name) => {
      ctx.set(name, name);
      await ctx.promise(name);
    },
    note: async (ctx, name) => ctx.promise(name).peek(),
  },
});

await serve([corpus, pot, plan]);
