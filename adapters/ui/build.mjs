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
  ".svg": "image/svg+xml",
};
/** The first that have `light-dark()`. */
const BROWSERS = ["chrome123", "firefox128", "safari17.5"];

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("base64url").slice(0, 16);

/** Folders of `src/ui` that every page may use. */
const SHARED = ["data", "state", "widgets"];

/**
 * Puts what pages share into one chunk. By itself esbuild makes a chunk for each set of pages that
 * share a module, and the first page would need a request for each of them. A module that every entry
 * exports is shared by the set of all entries, and so are all others that are treated alike.
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
        return { contents: `${text}\nexport * as shared from "shared:all";\n`, loader: "tsx" };
      });
      onResolve({ filter: /^shared:all$/ }, () => ({ path: "all", namespace: "shared" }));
      onLoad({ filter: /./, namespace: "shared" }, async () => {
        const lines = (await sharedModules(ui)).map((file, at) =>
          `export * as m${at} from ${JSON.stringify(file)};`
        );
        return { contents: lines.join("\n"), resolveDir: ui };
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
  return files.flat().sort();
}

async function bundle(root) {
  const ui = path.join(root, "src/ui");
  return await build({
    absWorkingDir: root,
    entryPoints: { app: path.join(ui, "main.tsx"), style: path.join(ui, "css/style.css") },
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
  const known = importsOf(outputs, nameOf("src/ui/main.tsx"));
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
  const script = nameOf("src/ui/main.tsx");
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
  const svg = await readFile(path.join(root, "src/ui/icon.svg"));
  const icon = `assets/icon-${hashOf(svg).slice(0, 8)}.svg`;
  const files = { [icon]: fileOf(icon, svg) };
  for (const { path: file, contents } of outputFiles) {
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
