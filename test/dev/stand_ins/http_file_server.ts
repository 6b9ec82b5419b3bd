import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";

/** Of `@std/media-types`, what a page is made of. */
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=UTF-8",
  ".html": "text/html; charset=UTF-8",
  ".js": "text/javascript; charset=UTF-8",
  ".json": "application/json; charset=UTF-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Of `serveFile` of `@std/http/file-server`, what `adapters/dev_server.ts` asks of it. */
export async function serveFile(request: Request, path: string): Promise<Response> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) return new Response("Not Found", { status: 404 });
  const type = TYPES[extname(path)];
  const headers = { ...(type && { "content-type": type }), "content-length": String(info.size) };
  const body = request.method === "HEAD" ? null : await readFile(path);
  return new Response(body, { headers });
}
