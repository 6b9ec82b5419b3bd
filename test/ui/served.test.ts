import { gunzipSync } from "node:zlib";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../support/server.ts";
import { startWorkerd } from "../workerd/_server.ts";

const START_MS = 60_000;

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A request as it is: `fetch` follows redirects and decompresses. */
function ask(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Got> {
  return new Promise((resolve, reject) =>
    request(url, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk) => chunks.push(chunk)).on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(chunks),
        }));
    }).on("error", reject).end()
  );
}

/** What every answer for a path of the UI has. */
const SECURITY = {
  "content-security-policy": expect.stringMatching(
    /^default-src 'none'; .*frame-ancestors 'none'$/,
  ),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

const STARTS = {
  node: () => startServer({ runtime: "node" }),
  deno: () => startServer({ runtime: "deno" }),
  workerd: () => startWorkerd(),
} as const;

describe.each(Object.entries(STARTS))("the files of the UI on %s", (name, start) => {
  let server: Awaited<ReturnType<typeof start>>;
  let script: string;
  const at = (path: string) => `${server.admin}${path}`;

  beforeAll(async () => {
    server = await start();
    const page = (await ask(at("/ui/"))).body.toString();
    script = `/ui/${/src="([^"]+)"/.exec(page)?.[1]}`;
  }, START_MS);
  afterAll(() => server?.close());

  test("lead to /ui/ by a relative redirect", async () => {
    for (const path of ["/", "/ui"]) {
      const { status, headers } = await ask(at(path));
      expect([status, headers["location"]]).toEqual([308, "ui/"]);
    }
  });

  test("are a page for every path without a dot, with a strict policy and the way up", async () => {
    for (const [path, base] of [["/ui/", "./"], ["/ui/a/b/c", "../../"]] as const) {
      const { status, headers, body } = await ask(at(path));
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        vary: "accept-encoding",
      });
      expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'");
      expect(body.toString()).toContain(`<base href="${base}">`);
      const again = await ask(at(path), { "if-none-match": String(headers["etag"]) });
      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
  });

  test("name what a page needs at once, so that it is not found out step by step", async () => {
    const linked = async (path: string) => {
      const page = (await ask(at(path))).body.toString();
      return [...page.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, file]) => file);
    };
    const shell = await linked("/ui/a/b/c");
    const ofPage = await linked("/ui/invocations/inv_1");
    expect(ofPage.length).toBeGreaterThan(shell.length);
    expect(ofPage).toEqual(
      expect.arrayContaining([...shell, expect.stringMatching(/invocation-/)]),
    );
    for (const file of ofPage) expect((await ask(at(`/ui/${file}`))).status).toBe(200);
    expect((await ask(at("/ui/"))).headers["etag"])
      .not.toBe((await ask(at("/ui/sql"))).headers["etag"]);
  });

  test("say what the server is, as it answers itself", async () => {
    const { body, headers } = await ask(at("/ui/"));
    const [, told = ""] = /<meta name="server" content="([^"]*)">/.exec(body.toString()) ?? [];
    const asked = await ask(at("/version"));
    expect(JSON.parse(told.replaceAll("&quot;", '"'))).toEqual(JSON.parse(asked.body.toString()));
    expect(body.toString()).not.toContain("{{");
    expect(headers["etag"]).toMatch(/^W\/"[\w-]+"$/);
  });

  test("have security headers, whatever the answer is", async () => {
    const known = String((await ask(at(script))).headers["etag"]);
    const shell = String((await ask(at("/ui/"))).headers["etag"]);
    const answers = [
      [308, await ask(at("/"))],
      [308, await ask(at("/ui"))],
      [200, await ask(at("/ui/"))],
      [200, await ask(at("/v3/ui/"))],
      [200, await ask(at(script))],
      [200, await ask(at(script), {}, "HEAD")],
      [304, await ask(at("/ui/"), { "if-none-match": shell })],
      [304, await ask(at(script), { "if-none-match": known })],
      [404, await ask(at("/ui/assets/none.js"))],
      [405, await ask(at("/ui/"), {}, "POST")],
      [405, await ask(at("/"), {}, "DELETE")],
    ] as const;
    for (const [expected, { status, headers }] of answers) {
      expect(status).toBe(expected);
      expect(headers, String(status)).toMatchObject(SECURITY);
    }
    // Nothing else has them: an answer of the API is no page.
    expect((await ask(at("/health"))).headers["content-security-policy"]).toBeUndefined();
  });

  // A Worker is reached under its routes only.
  test.skipIf(name === "workerd")("are not for names that a stranger may point here", async () => {
    for (const path of ["/", "/ui", "/ui/", script, "/ui/assets/none.js"]) {
      const { status, headers, body } = await ask(at(path), { host: "evil.example:9070" });
      expect([path, status]).toEqual([path, 403]);
      expect(headers).toMatchObject(SECURITY);
      expect(body.toString()).not.toContain("-perdure.");
    }
  });

  test("may call the ingress, where this server has it", async () => {
    // A Worker serves both at one address; the port of its own is for other Workers.
    const page = name === "workerd" ? `${server.ingress}/admin/ui/` : at("/ui/");
    const { headers } = await ask(page);
    const { origin } = new URL(server.ingress);
    expect(headers["content-security-policy"]).toContain(`connect-src 'self' ${origin};`);
  });

  test("never change under one name, and are sent as they were compressed", async () => {
    const plain = await ask(at(script));
    expect(plain.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const { headers, body } = await ask(at(script), { "accept-encoding": "br, gzip" });
    expect(headers["content-encoding"]).toBe("gzip");
    expect(body.length).toBeLessThan(plain.body.length / 2);
    expect(gunzipSync(body).equals(plain.body)).toBe(true);
    const refused = await ask(at(script), { "accept-encoding": "gzip;q=0" });
    expect(refused.headers["content-encoding"]).toBeUndefined();
    const known = await ask(at(script), { "if-none-match": String(plain.headers["etag"]) });
    expect(known.status).toBe(304);
  });

  test("are asked for by GET and HEAD only, and 404 where there is none", async () => {
    const head = await ask(at(script), {}, "HEAD");
    expect([head.status, head.body.length]).toEqual([200, 0]);
    const post = await ask(at(script), {}, "POST");
    expect([post.status, post.headers["allow"]]).toEqual([405, "GET, HEAD"]);
    for (
      const path of ["/ui/assets/app.js", "/ui/assets/x", "/ui/a.css", "/uix", "/ui/%2e%2e/x.js"]
    ) {
      expect((await ask(at(path))).status, path).toBe(404);
    }
  });
});
