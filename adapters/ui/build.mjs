import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/**
 * Builds the UI: bundles `src/ui` and writes `dist/ui_assets.ts`, which every entry embeds
 * (`embedded.ts`). Runs on Node 20 and on Deno, so it is JavaScript. Takes some 200 ms.
 */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TYPES = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};
/** The first that have `light-dark()`. */
const BROWSERS = ["chrome123", "firefox128", "safari17.5"];

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("base64url").slice(0, 16);

/** Folders of `src/ui` that every page may use. */
const SHARED = ["data", "state", "widgets", "shell"];
/** The same of what two pages need that have too many requests otherwise. */
const SHARED_FILES = ["./pages/services/figures.tsx", "./pages/services/statements.ts"];
/** Starts the UI. It is in the chunk that all share, so that this is the script of every page. */
const MAIN = "main.tsx";

/** What only some pages share, below `src/ui/pages`. Each of `pages` needs all of it, or soon does. */
const GROUPS = [
  {
    pages: ["objects/objects", "objects/object", "workflows/workflows", "workflows/workflow"],
    modules: ["keyed/keyed_page.tsx", "keyed/list_page.tsx", "keyed/state_view.tsx"]
      .concat("keyed/recent.tsx", "keyed/calls.tsx", "workflows/list.ts"),
  },
  {
    pages: ["invocation/invocation", "invocation/calls/calls"]
      .concat("invocation/export/export", "file/shown"),
    modules: ["invocation/tabs.tsx", "invocation/spent.ts", "invocation/time_line.tsx"],
  },
];

/** The modules that a page exports beside its own, by which they are in one chunk. */
function groupOf(ui, file) {
  const page = path.relative(path.join(ui, "pages"), file).replaceAll("\\", "/");
  return GROUPS.filter(({ pages }) => pages.includes(page.replace(/\.tsx$/, "")))
    .flatMap(({ modules }) => modules.map((name) => path.join(ui, "pages", name)));
}

const exportsOf = (files, name) =>
  files.map((file, at) => `export * as ${name}${at} from ${JSON.stringify(file)};\n`).join("");

/**
 * Puts what pages share into one chunk, and what is of a group of pages into another. By itself esbuild
 * makes a chunk for each set of pages that share a module, and a page would need a request for each of
 * them. A module that every entry exports is shared by the set of all entries, and so are all others
 * that are treated alike.
 */
function oneSharedChunk(ui) {
  return {
    name: "one-shared-chunk",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /\.tsx$/ }, ({ kind, path: file, resolveDir }) => {
        if (kind !== "dynamic-import" && kind !== "entry-point") return undefined;
        return { path: path.resolve(resolveDir, file), pluginData: { isEntry: true } };
      });
      onLoad({ filter: /\.tsx$/ }, async ({ path: file, pluginData }) => {
        if (!pluginData?.isEntry) return undefined;
        const text = await readFile(file, "utf8");
        const more = exportsOf(groupOf(ui, file), "group");
        return {
          contents: `${text}\nexport * as shared from "shared:all";\n${more}`,
          loader: "tsx",
        };
      });
      onResolve({ filter: /^shared:all$/ }, () => ({ path: "all", namespace: "shared" }));
      onLoad({ filter: /./, namespace: "shared" }, async () => {
        return { contents: exportsOf(await sharedModules(ui), "m"), resolveDir: ui };
      });
    },
  };
}

async function sharedModules(ui) {
  const files = await Promise.all(
    SHARED.map(async (folder) =>
      (await readdir(path.join(ui, folder))).filter((name) => /\.tsx?$/.test(name))
        .map((name) => `./${folder}/${name}`)
    ),
  );
  return [...files.flat().sort(), ...SHARED_FILES, `./${MAIN}`];
}

async function bundle(root) {
  const ui = path.join(root, "src/ui");
  return await build({
    absWorkingDir: root,
    entryPoints: { app: path.join(ui, MAIN), style: path.join(ui, "css/style.css") },
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    legalComments: "none",
    target: BROWSERS,
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: path.join(root, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    metafile: true,
    plugins: [oneSharedChunk(ui)],
    write: false,
    logLevel: "warning",
  });
}

/** The file that starts the UI, which is no entry: pages import from it. */
function scriptOf(outputs) {
  return Object.keys(outputs).find((name) => `src/ui/${MAIN}` in outputs[name].inputs);
}

/** The names of what a file needs before it runs, each once. */
function importsOf(outputs, name, found = new Set()) {
  for (const { kind, path: file } of outputs[name].imports) {
    if (kind !== "import-statement" || found.has(file)) continue;
    found.add(file);
    importsOf(outputs, file, found);
  }
  return found;
}

const linksTo = (names) =>
  [...names].map((name) => `<link rel="modulepreload" href="${name}">`).join("");

/** A page of `src/ui/routes.ts`, and its module. */
const PAGE = /path: "([^"]*)",[^}]*?import\("\.\/([^"]+)"\)/g;

/** Links to what each page needs beyond the shell, so that it is not found out one after the other. */
async function pagesOf(root, { outputs }) {
  const entries = Object.entries(outputs);
  const nameOf = (source) => entries.find(([, { entryPoint }]) => entryPoint === source)?.[0];
  const script = scriptOf(outputs);
  const known = importsOf(outputs, script).add(script);
  const routes = await readFile(path.join(root, "src/ui/routes.ts"), "utf8");
  return [...routes.matchAll(PAGE)].map(([, at, module]) => {
    const name = nameOf(`src/ui/${module}`);
    const needed = [name, ...importsOf(outputs, name)].filter((one) => !known.has(one));
    return { path: at, links: linksTo(needed) };
  });
}

/** The page, with the names of its script, style sheet and icon, and of what the script imports at once. */
async function shellOf(root, { outputs }, icon) {
  const entries = Object.entries(outputs);
  const nameOf = (source) => entries.find(([, { entryPoint }]) => entryPoint === source)?.[0];
  const script = scriptOf(outputs);
  const preloads = importsOf(outputs, script);
  const template = await readFile(path.join(root, "src/ui/shell.html"), "utf8");
  const values = {
    icon,
    script,
    style: nameOf("src/ui/css/style.css"),
    preloads: linksTo(preloads),
  };
  return template.replaceAll(/\s*\n\s*/g, "")
    .replaceAll(/\{\{ *(\w+) *\}\}/g, (_, name) => name in values ? values[name] : `{{${name}}}`);
}

function fileOf(name, bytes) {
  return {
    type: TYPES[path.extname(name)],
    etag: `"${hashOf(bytes)}"`,
    gzip: gzipSync(bytes, { level: 9 }).toString("base64"),
  };
}

/** Everything that is served, as the module's text. */
async function moduleOf(root) {
  const { outputFiles, metafile } = await bundle(root);
  const svg = await readFile(path.join(root, "src/ui/icon.svg"), "utf8");
  // In the page itself: it is smaller than the headers of another answer.
  const icon = `data:image/svg+xml,${encodeURIComponent(svg.replaceAll(/\s*\n\s*/g, ""))}`;
  const files = {};
  for (const { path: file, contents } of outputFiles) {
    // Of the entry nothing is left, for all of it is shared.
    if (metafile.outputs[path.relative(root, file)]?.entryPoint === `src/ui/${MAIN}`) continue;
    const name = path.relative(root, file).replaceAll("\\", "/");
    files[name] = fileOf(name, contents);
  }
  const shell = await shellOf(root, metafile, icon);
  const pages = await pagesOf(root, metafile);
  const etag = `W/"${hashOf(shell + JSON.stringify(pages))}"`;
  const built = { shell, etag, pages, files };
  return 'import type { UiFiles } from "../src/admin/ui_files.ts";\n' +
    `export const built: UiFiles = ${JSON.stringify(built)};\n`;
}

/** Builds the UI of the tree at `root`. Replaces the module in one step, for it may be read meanwhile. */
export async function buildUi(root = ROOT) {
  const text = await moduleOf(root);
  const folder = path.join(root, "dist");
  const target = path.join(folder, "ui_assets.ts");
  if (await readFile(target, "utf8").catch(() => "") === text) return;
  await mkdir(folder, { recursive: true });
  const temporary = path.join(folder, `ui_assets.${process.pid}.tmp`);
  try {
    await writeFile(temporary, text);
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildUi();
