import process from "node:process";
import { serveFile } from "@std/http/file-server";
import { fromFileUrl, join, SEPARATOR } from "@std/path";
import { listen } from "./deno/listen.ts";
import type { Handler } from "./platform/listener.ts";
import { serve } from "./server/serve.ts";

/** The server that `dev.ts` runs: the one of `deno.ts`, with the UI from its sources beside it. */
const FOLDER = fromFileUrl(new URL("../src/ui", import.meta.url));
const MOUNT = "/ui/";

/** The admin API, with the files of `src/ui/` below `/ui/`. */
function withUi(admin: Handler): Handler {
  return (request) => {
    const { pathname } = new URL(request.url);
    if (request.method !== "GET" && request.method !== "HEAD") return admin(request);
    if (pathname === "/" || pathname === "/ui") {
      return new Response(null, { status: 308, headers: { location: MOUNT } });
    }
    return pathname.startsWith(MOUNT) ? file(request, pathname) : admin(request);
  };
}

async function file(request: Request, pathname: string): Promise<Response> {
  const path = fileOf(pathname);
  if (path === undefined) return new Response("not found", { status: 404 });
  const response = await serveFile(request, path);
  response.headers.set("cache-control", "no-cache");
  return response;
}

/** The file of a path below `/ui/`. Undefined when it is outside of the folder, or not a valid path. */
function fileOf(pathname: string): string | undefined {
  try {
    const name = decodeURIComponent(pathname.slice(MOUNT.length));
    // The file system throws on a NUL, which is not part of any name.
    if (name.includes("\0")) return undefined;
    const path = join(FOLDER, name === "" || name.endsWith("/") ? `${name}index.html` : name);
    return path.startsWith(`${FOLDER}${SEPARATOR}`) ? path : undefined;
  } catch (cause) {
    if (cause instanceof URIError) return undefined;
    throw cause;
  }
}

/** Stops in order when the other end of the pipe is closed: by `dev.ts`, or because it died. */
async function endWithParent(): Promise<void> {
  await Deno.stdin.readable.pipeTo(new WritableStream()).catch(() => {});
  if (!process.emit("SIGTERM", "SIGTERM")) process.exit(0);
}

void endWithParent();
await serve({ listen, aroundAdmin: withUi });
