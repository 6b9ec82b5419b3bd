import { statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { DatabaseSize } from "../../src/vitals.ts";
import type { Databases } from "./databases.ts";

/**
 * Sizes of the database files, for a page of metrics. Undefined for databases on a server. A file that
 * was removed counts as empty; `watch.ts` reports it.
 */
export function databaseSizes({ all }: Databases): readonly DatabaseSize[] | undefined {
  const sizes = all.flatMap(({ address }) => address.kind === "file" ? [sizeOf(address.url)] : []);
  return sizes.length === 0 ? undefined : sizes;
}

function sizeOf(url: string): DatabaseSize {
  const file = fileURLToPath(url);
  return {
    name: path.basename(file),
    bytes: bytesOf(file),
    walBytes: bytesOf(`${file}-wal`),
  };
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
