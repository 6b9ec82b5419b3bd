import { Failure } from "../errors.ts";
import type { IngressEndpoint } from "./ingress_endpoint.ts";
import { quote } from "./refusals.ts";
import { UI_HEADERS } from "./ui_headers.ts";

/** A file of the UI, compressed when it was built. */
export interface UiFile {
  /** Its media type. */
  readonly type: string;
  readonly etag: string;
  /** In base64, as modules of every runtime can hold it. */
  readonly gzip: string;
}

/** The UI as it was built (`adapters/ui/build.mjs`). */
export interface UiFiles {
  /**
   * The page for every path, with `{{base}}` where the way up to `/ui/` is written, `{{page}}` where
   * links are to what one page needs, and `{{server}}` where it is told what this server is.
   */
  readonly shell: string;
  readonly etag: string;
  /** What pages need beyond the shell, by their paths, in which a segment `:id` stands for any. */
  readonly pages: readonly { readonly path: string; readonly links: string }[];
  /** By path below `/ui/`. Names have hashes of contents in them, so a file never changes. */
  readonly files: Readonly<Record<string, UiFile>>;
}

export interface UiOptions {
  /** The files of now: a server in development builds them anew. Absent: there is no UI. */
  readonly ui?: () => UiFiles | Promise<UiFiles>;
  readonly ingressEndpoint: IngressEndpoint;
  /**
   * What `GET /version` answers to a request for a URL, where that needs no token: the page has it from
   * the beginning. Absent: the page asks for it.
   */
  readonly about?: ((asked: string) => unknown) | undefined;
}

const MOUNT = "/ui/";
const FOREVER = "public, max-age=31536000, immutable";

/**
 * Answers requests for the UI (docs/spec/admin.md#ui): GET of `/`, `/ui` and what is below `/ui/`.
 * Undefined for all other paths. Throws `Failure` 404 for a file that does not exist. Links and
 * redirects are relative, so that it works behind any prefix.
 */
export async function uiAnswer(
  request: Request,
  pathname: string,
  { ui, ingressEndpoint, about }: UiOptions,
): Promise<Response | undefined> {
  if (!ui) return undefined;
  if (pathname === "/" || pathname === "/ui") {
    return new Response(null, { status: 308, headers: { ...UI_HEADERS, location: "ui/" } });
  }
  if (!pathname.startsWith(MOUNT)) return undefined;
  const path = pathname.slice(MOUNT.length);
  const built = await ui();
  const file = Object.hasOwn(built.files, path) ? built.files[path] : undefined;
  if (file) return fileAnswer(request, file);
  // The UI writes a dot of a key as `%2E`: what has one is a file.
  if (path.includes(".") || path.startsWith("assets/")) {
    throw Failure.plain(404, `Cannot find ${quote(pathname)}`);
  }
  const told = about ? JSON.stringify(about(request.url)) : "";
  return shellAnswer(request, built, { path, ingress: ingressEndpoint(request.url), told });
}

function fileAnswer(request: Request, file: UiFile): Response {
  const headers = new Headers({
    ...{ "cache-control": FOREVER, etag: file.etag, vary: "accept-encoding" },
    ...UI_HEADERS,
  });
  if (isKnown(request, file.etag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", file.type);
  const bytes = bytesOf(file);
  if (accepts(request, "gzip")) {
    headers.set("content-encoding", "gzip");
    // workerd compresses a body by itself unless it is told that this has been done.
    const init = { headers, encodeBody: "manual" };
    return new Response(bytes, init);
  }
  const gunzip = new DecompressionStream("gzip");
  return new Response(new Blob([bytes]).stream().pipeThrough(gunzip), { headers });
}

function shellAnswer(
  request: Request,
  { shell, etag, pages }: UiFiles,
  { path, ingress, told }: Readonly<Record<"path" | "ingress" | "told", string>>,
): Response {
  const base = "../".repeat(path.split("/").length - 1) || "./";
  const page = pages.findIndex((one) => matches(one.path, path));
  const tag = etag.replace(/"$/, `-${base.length}-${page}-${checksumOf(told)}"`);
  const headers = new Headers({
    ...{ "cache-control": "no-cache", etag: tag, vary: "accept-encoding" },
    ...UI_HEADERS,
    "content-security-policy": policyOf(ingress),
  });
  if (isKnown(request, tag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", "text/html; charset=utf-8");
  const links = pages[page]?.links ?? "";
  const parts: Readonly<Record<string, string>> = { base, page: links, server: metaOf(told) };
  const body = shell.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? "");
  return new Response(body, { headers });
}

/** As an element of the page. A script would need the policy to allow it. */
function metaOf(told: string): string {
  if (told === "") return "";
  const escaped = told.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<meta name="server" content="${escaped}">`;
}

/** A number that differs, most likely, for another text (FNV-1a). */
function checksumOf(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return (sum >>> 0).toString(36);
}

function matches(pattern: string, path: string): boolean {
  const [names, segments] = [pattern.split("/"), path.replace(/\/$/, "").split("/")];
  return names.length === segments.length &&
    names.every((name, at) => name.startsWith(":") || name === segments[at]);
}

/** Nothing inline and nothing from elsewhere; the playground calls the ingress. */
function policyOf(ingress: string): string {
  const origin = URL.canParse(ingress) ? ` ${new URL(ingress).origin}` : "";
  return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    `connect-src 'self'${origin}; base-uri 'self'; form-action 'none'; frame-ancestors 'none'`;
}

function isKnown(request: Request, etag: string): boolean {
  const known = request.headers.get("if-none-match") ?? "";
  const strong = etag.replace(/^W\//, "");
  return known.split(",").some((one) => one.trim().replace(/^W\//, "") === strong);
}

/** Whether a content coding is accepted by name; a weight of 0 forbids it. */
function accepts(request: Request, coding: string): boolean {
  const accepted = (request.headers.get("accept-encoding") ?? "").toLowerCase().split(",");
  return accepted.some((one) => {
    const [name, weight = "q=1"] = one.split(";").map((part) => part.trim());
    return name === coding && Number(weight.slice(2)) > 0;
  });
}

/** Files as bytes, decoded once: as long as the build is used that has them. */
const decoded = new WeakMap<UiFile, Uint8Array<ArrayBuffer>>();

function bytesOf(file: UiFile): Uint8Array<ArrayBuffer> {
  const known = decoded.get(file);
  if (known) return known;
  const bytes = Uint8Array.from(atob(file.gzip), (char) => char.charCodeAt(0));
  decoded.set(file, bytes);
  return bytes;
}
