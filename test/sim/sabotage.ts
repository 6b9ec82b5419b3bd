import { readFile } from "node:fs/promises";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import type { Faults, Limits } from "./faults.ts";
import type { OutboundSystem } from "./overlap.ts";
import type { System } from "./system.ts";

/** A text in a file under `src`, which must occur exactly once, and what takes its place. */
export interface Patch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** One way to break the server on purpose. */
export interface Sabotage extends Patch {
  /** What is broken. */
  readonly name: string;
  /** A second text, where one is not enough. */
  readonly also?: Omit<Patch, "file">;
  /** Circumstances without which it is too rare to be seen in a few seeds. */
  readonly under?: Partial<Faults & Limits>;
}

/** What `System` and `OutboundSystem` need of the server. */
const ENTRY = `
  export { Attempts } from "./outbound/attempts.ts";
  export { Host } from "./partition/host.ts";
  export { MembershipAgent } from "./placement/membership_agent.ts";
  export { Router } from "./placement/router.ts";
  export { ThreadPeers } from "./placement/thread_peers.ts";
  export { Fenced } from "./ports.ts";
`;
const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/**
 * The server with one text replaced. Throws when the text is not where it was: a sabotage that
 * no longer breaks anything proves nothing.
 */
export async function sabotaged(sabotage: Sabotage): Promise<System & OutboundSystem> {
  const { file } = sabotage;
  let isPatched = false;
  const patch: Plugin = {
    name: "sabotage",
    setup({ onLoad }) {
      onLoad({ filter: new RegExp(`[/\\\\]${file.split("/").at(-1)}$`) }, async ({ path }) => {
        if (relative(SRC, path).split(sep).join("/") !== file) return undefined;
        isPatched = true;
        return { contents: await patchedFile(sabotage), loader: "ts" };
      });
    },
  };
  const { outputFiles: [bundle] } = await build({
    stdin: { contents: ENTRY, resolveDir: SRC },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2023",
    logLevel: "silent",
    plugins: [patch],
  });
  if (!bundle || !isPatched) throw new Error(`Cannot sabotage "${file}": nothing imports it`);
  const url = `data:text/javascript;base64,${Buffer.from(bundle.contents).toString("base64")}`;
  return await import(/* @vite-ignore */ url);
}

/**
 * The file of a sabotage with its texts replaced, as a bundle has it. Throws when a text is not in it,
 * or more than once.
 */
export async function patchedFile({ file, find, replace, also }: Sabotage): Promise<string> {
  const texts = [{ find, replace }, ...also ? [also] : []];
  const text = await readFile(`${SRC}${file}`, "utf8");
  return texts.reduce((text, one) => patched(text, file, one), text);
}

function patched(text: string, file: string, { find, replace }: Omit<Patch, "file">): string {
  const places = text.split(find).length - 1;
  if (places === 1) return text.replace(find, () => replace);
  throw new Error(`Cannot sabotage "${file}": ${places} places for "${find}"`);
}
