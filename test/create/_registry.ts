import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/** A packed folder: its tarball, and the manifest that is in it. */
export interface Tarball {
  readonly file: string;
  readonly manifest: { readonly name: string; readonly version: string };
}

/**
 * Starts an npm registry on a free port. It serves these packages, and redirects requests for all others
 * to `upstream`.
 */
export async function openRegistry(
  tarballs: readonly Tarball[],
  upstream: string,
): Promise<Registry> {
  const server = createServer(({ url: asked = "/" }, response) => {
    const wanted = decodeURIComponent(asked.split("?")[0] ?? "");
    const own = tarballs.find(({ manifest }) => `/${manifest.name}` === wanted.split("/-/")[0]);
    if (own === undefined) {
      response.writeHead(307, { location: new URL(asked.slice(1), upstream).href }).end();
    } else if (wanted.endsWith(".tgz")) response.end(readFileSync(own.file));
    else {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(packumentOf(own, url)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url, close };
}

/** All that a registry says of a package. */
function packumentOf({ file, manifest }: Tarball, url: string): unknown {
  const { name, version } = manifest;
  const integrity = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
  const dist = { tarball: new URL(`${name}/-/${path.basename(file)}`, url).href, integrity };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}
