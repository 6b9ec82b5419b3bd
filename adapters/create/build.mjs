import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Writes the folder of which `npm run package` makes the tarball of `create-perdure`:
 * `dist/create-perdure`, or the one that the first argument names. Takes some 100 ms.
 */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
const EXAMPLES = path.join(ROOT, "docs/examples");
const STARTERS = ["greeter", "order-saga", "device", "agent"];
const WRANGLER = "^4.100.0";

const text = (...names) => readFile(path.join(...names), "utf8");
const root = JSON.parse(await text(ROOT, "package.json"));
const target = path.resolve(process.argv[2] ?? path.join(ROOT, "dist/create-perdure"));

/** What tools leave beside sources. */
const LEFT = /(^|\/)(target|__pycache__|\.venv|Cargo\.lock)(\/|$)/;

/** The wanted files of a folder and those below it, by their paths in it. */
async function filesOf(folder, isWanted) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const names = entries.filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => !LEFT.test(name) && isWanted(name)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await text(folder, name)])),
  );
}

/** What an example says to the SDK for Node, said to the one for the Fetch API. */
function toFetch(source) {
  const replaced = (whole, from, to) => {
    if (!from.test(whole)) throw new Error(`Cannot build a starter: its handlers have no ${from}`);
    return whole.replace(from, to);
  };
  const imported = replaced(
    source,
    /"@restatedev\/restate-sdk"/,
    `"@restatedev/restate-sdk/fetch"`,
  );
  const named = replaced(imported, /\bserve\b/, "createEndpointHandler");
  return replaced(
    named,
    /^serve\((\{ services: \[[^\]]+\] \})\);$/m,
    "export default { fetch: createEndpointHandler($1) };",
  );
}

async function collect(name) {
  const folder = path.join(EXAMPLES, name);
  const { "handlers.ts": handlers, ...others } = await filesOf(
    folder,
    (file) => /^\w+\.ts$/.test(file),
  );
  // What callers run is the same in every language.
  const foreign = async (language) => ({
    ...await filesOf(path.join(folder, language), () => true),
    ...others,
  });
  return {
    page: await text(folder, "README.md"),
    test: await text(HERE, "starters", `${name.replaceAll("-", "_")}.mjs`),
    sources: {
      typescript: { "handlers.ts": handlers, ...others },
      fetch: { "handlers.ts": toFetch(handlers), ...others },
      python: await foreign("python"),
      go: await foreign("go"),
      rust: await foreign("rust"),
      java: await foreign("java"),
      kotlin: await foreign("kotlin"),
    },
  };
}

/** The test of every SDK has the versions that the examples are tried with. */
async function requirements() {
  const lines = (await text(ROOT, "test/sdks/python/requirements.txt")).split("\n");
  return lines.filter((line) => /^(restate-sdk|hypercorn)\b/.test(line)).join("\n") + "\n";
}

async function wrangler() {
  const worker = await text(EXAMPLES, "worker/wrangler.toml");
  const date = /^compatibility_date = .*$/m.exec(worker)[0];
  const flags = `compatibility_flags = ["nodejs_compat"]`;
  return `name = "NAME"\nmain = "handlers.ts"\n${date}\n${flags}\nsend_metrics = false\n`;
}

function manifest() {
  const { version, license, type } = root;
  const repository = process.env.PACKAGE_REPOSITORY;
  return {
    ...{ name: "create-perdure", version, license, type },
    description: "Writes a project with durable handlers for perdure, and a test of them",
    keywords: ["durable-execution", "perdure", "create"],
    engines: root.engines,
    ...(repository && { repository: { type: "git", url: repository } }),
    bin: { "create-perdure": "dist/create.mjs" },
    files: ["LICENSE", "README.md", "dist"],
    publishConfig: { access: "public", provenance: true },
  };
}

await rm(target, { recursive: true, force: true });
await mkdir(path.join(target, "dist"), { recursive: true });
await build({
  ...{ absWorkingDir: ROOT, bundle: true, format: "esm", platform: "node", target: "node20" },
  ...{ entryPoints: ["adapters/create/create.ts"], logLevel: "warning" },
  outfile: path.join(target, "dist/create.mjs"),
});
const collected = {
  versions: {
    perdure: root.version,
    sdk: root.devDependencies["@restatedev/restate-sdk"],
    wrangler: WRANGLER,
  },
  requirements: await requirements(),
  wrangler: await wrangler(),
  server: await text(HERE, "starters/server.mjs"),
  starters: Object.fromEntries(
    await Promise.all(STARTERS.map(async (name) => [name, await collect(name)])),
  ),
};
await writeFile(path.join(target, "dist/starters.json"), JSON.stringify(collected));
await copyFile(path.join(ROOT, "LICENSE"), path.join(target, "LICENSE"));
await copyFile(path.join(HERE, "front_page.md"), path.join(target, "README.md"));
await writeFile(path.join(target, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
