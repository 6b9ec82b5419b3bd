import { expect, test } from "vitest";
import type { UiFiles } from "../../src/admin/ui_files.ts";
import { authenticatorOf } from "../support/tokens.ts";
import { type AdminLimits, setup } from "./_setup.ts";

const BUILT: UiFiles = { shell: "<html>{{server}}</html>", etag: '"1"', pages: [], files: {} };

async function ask(url: string, options: Partial<AdminLimits> = {}) {
  const { serve } = await setup(undefined, { ui: () => BUILT, ...options });
  const response = await serve(new Request(url));
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const FOREIGN = "http://evil.example:9070/ui/";

test("the page is not for a name that a stranger may have pointed here: it has data", async () => {
  expect((await ask("http://127.0.0.1:9070/ui/")).text).toContain("-perdure.");
  for (const url of [FOREIGN, "http://evil.example:9070/", "http://evil.example/v3/ui/a/b"]) {
    const { status, text, headers } = await ask(url);
    expect([url, status]).toEqual([url, 403]);
    expect(text).toMatch(/not known as .*admin\.allowed-hosts/);
    expect(text).not.toContain("-perdure.");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  }
  const { status, text } = await ask(FOREIGN, { allowedHosts: ["evil.example"] });
  expect([status, text.includes("-perdure.")]).toEqual([200, true]);
});

test("where a token is asked for, the page has no data, and is for any name", async () => {
  const { status, text } = await ask(FOREIGN, { authenticator: await authenticatorOf(["admin"]) });
  expect([status, text]).toEqual([200, "<html></html>"]);
});

test("what is refused before a path is looked at has the headers of the UI, too", async () => {
  const { status, headers } = await ask("http://127.0.0.1/ui/", { requestsMax: 0 });
  expect(status).toBe(429);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});
