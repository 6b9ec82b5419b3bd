import path from "node:path";
import process from "node:process";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PRELOAD = path.join(import.meta.dirname, "_preload.mjs");

/**
 * Programs that stand before others on the path of a page's commands, as scripts by name: none of
 * them uses the network. `copy`: the folder that stands for the reader's copy of the project.
 */
export function programs(copy: string): Readonly<Record<string, string>> {
  return { node: node(), npm: npm(copy) };
}

/** The server is started as it is; the scripts of a page get what `_preload.mjs` lends them. */
function node(): string {
  return `case "$*" in
  *dist/*) exec "${process.execPath}" "$@" ;;
  *) exec "${process.execPath}" --import "${PRELOAD}" "$@" ;;
esac
`;
}

/** Packages are those that the project itself has installed. */
function npm(copy: string): string {
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
      [ -d "${ROOT}/node_modules/$package" ] || { echo "Cannot link $package" >&2; exit 1; }
      mkdir -p "$(dirname "node_modules/$package")"
      ln -sfn "${ROOT}/node_modules/$package" "node_modules/$package"
    done ;;
  *) echo "No page runs npm $1" >&2; exit 1 ;;
esac
`;
}
