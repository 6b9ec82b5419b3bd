// What `npx wrangler dev --port PORT` does with the wrangler.toml of this folder: the Worker in workerd.
import { buildSync } from "esbuild";
import { readFileSync } from "node:fs";
import process from "node:process";
import { Miniflare } from "miniflare";
import { parse } from "smol-toml";

const [command, flag, port] = process.argv.slice(2);
if (command !== "dev" || flag !== "--port") throw new Error(`No page runs wrangler ${command}`);
const { main, compatibility_date: compatibilityDate, vars } = parse(
  readFileSync("wrangler.toml", "utf8"),
);
const { outputFiles: [bundle] } = buildSync({
  ...{ entryPoints: [main], bundle: true, write: false, format: "esm" },
  ...{ conditions: ["workerd", "worker", "browser"], external: ["cloudflare:*"] },
});
const script = bundle.text;
const miniflare = new Miniflare({
  ...{ modules: true, script, compatibilityDate, bindings: vars },
  ...{ host: "127.0.0.1", port: Number(port) },
});
await miniflare.ready;
process.once("SIGTERM", () => void miniflare.dispose());
