import path from "node:path";
import process from "node:process";
import { clientsModule, cliProgram } from "../admin/clients_packages.ts";
import { denoProgram } from "../support/build.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PRELOAD = path.join(import.meta.dirname, "_preload.mjs");
const WRANGLER = path.join(import.meta.dirname, "_wrangler.mjs");

/** What pages use and the project does not depend on: fetched once for each machine. */
const PUBLISHED: Readonly<Record<string, () => Promise<string | undefined>>> = {
  "@restatedev/restate-sdk-clients": clientsModule,
  "npx @restatedev/restate ": cliProgram,
};

/** Files by the words of a page that ask for them. Undefined: it cannot be had. */
export type Published = ReadonlyMap<string, string | undefined>;

/** What the commands of a page use of it. */
export async function publishedFor(commands: string): Promise<Published> {
  const used = Object.entries(PUBLISHED).filter(([words]) => commands.includes(words));
  return new Map(
    await Promise.all(used.map(async ([words, fetch]) => [words, await fetch()] as const)),
  );
}

export interface ProgramOptions {
  readonly published: Published;
  /** The Node that runs scripts and `npx perdure`. Servers and the rest run on that of the tests. */
  readonly node: string;
  /** The port of the endpoint that `perdure dev` starts. */
  readonly endpoint: number;
}

/**
 * Programs that stand before others on the path of a page's commands, as scripts by name: none of
 * them uses the network. `copy`: the folder that stands for the reader's copy of the project.
 */
export function programs(
  copy: string,
  { published, node: nodeOfPage, endpoint }: ProgramOptions,
): Readonly<Record<string, string>> {
  const folders = [path.join(ROOT, "node_modules")];
  const clients = published.get("@restatedev/restate-sdk-clients");
  if (clients !== undefined) folders.push(path.resolve(clients, "../../../.."));
  return {
    node: node(nodeOfPage),
    npm: npm(copy, folders),
    npx: npx(copy, { cli: published.get("npx @restatedev/restate "), node: nodeOfPage, endpoint }),
    deno: `exec "${denoProgram()}" "$@"\n`,
  };
}

/** Programs of packages: the command line of the SDK's makers, `perdure`, and what stands for wrangler. */
function npx(
  copy: string,
  { cli, node, endpoint }: {
    readonly cli: string | undefined;
    readonly node: string;
    readonly endpoint: number;
  },
): string {
  return `program="$1"
shift
case "$program" in
  @restatedev/restate) exec "${cli}" "$@" ;;
  perdure)
    if [ "$1" = dev ]; then shift; set -- dev --port ${endpoint} "$@"; fi
    NODE_OPTIONS='--import "${PRELOAD}"' exec "${node}" "${copy}/dist/perdure.mjs" "$@" ;;
  wrangler) exec "${node}" "${WRANGLER}" "$@" ;;
  *) echo "No page runs npx $program" >&2; exit 1 ;;
esac
`;
}

/** The server is started as it is; the scripts of a page get what `_preload.mjs` lends them. */
function node(program: string): string {
  return `case "$*" in
  *dist/*) exec "${process.execPath}" "$@" ;;
  *) exec "${program}" --import "${PRELOAD}" "$@" ;;
esac
`;
}

/** Packages are those of `folders`, the first one of which is the project's. */
function npm(copy: string, folders: readonly string[]): string {
  return `case "$1" in
  ci) ;;
  init) echo '{"name": "page", "version": "1.0.0"}' > package.json ;;
  start)
    shift
    [ "$1" = "--" ] && shift
    cd "${copy}" && exec node dist/node.mjs "$@" ;;
  install)
    shift
    for package in "$@"; do
      mkdir -p "$(dirname "node_modules/$package")"
      for folder in ${folders.map((one) => `"${one}"`).join(" ")}; do
        [ -d "$folder/$package" ] && ln -sfn "$folder/$package" "node_modules/$package"
      done
      [ -d "node_modules/$package" ] || { echo "Cannot link $package" >&2; exit 1; }
    done ;;
  *) echo "No page runs npm $1" >&2; exit 1 ;;
esac
`;
}
