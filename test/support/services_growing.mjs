// `Growing` has one more handler in each life that begins after FOLDER/second.go was written, and
// serdes that show what they stored: upper case, as JSON `{"text":…}` in lower case.
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { restate, serve } from "./sdk.mjs";

const [, , folder] = process.argv.slice(2);
const hasGrown = existsSync(path.join(folder, "second.go"));

const shout = {
  contentType: "text/shout",
  serialize: (text) => new TextEncoder().encode(text.toUpperCase()),
  deserialize: (bytes) => new TextDecoder().decode(bytes).toLowerCase(),
  preview: {
    toJsonString: (text) => JSON.stringify({ text }),
    fromJsonString: (json) => JSON.parse(json).text,
  },
};

const growing = restate.service({
  name: "Growing",
  handlers: {
    first: async () => "first",
    shout: restate.handlers.handler({ input: shout, output: shout }, async (_ctx, text) => text),
    ...(hasGrown ? { second: async () => "second" } : {}),
  },
});

await serve([growing]);
