import { expect, test } from "vitest";
import type { UiFiles } from "../../src/admin/ui_files.ts";
import { type AdminLimits, setup } from "./_setup.ts";

const BUILT: UiFiles = { shell: "<html>{{server}}</html>", etag: '"1"', pages: [], files: {} };

async function ask(url: string, options: Partial<AdminLimits> = {}) {
  const { serve } = await setup(undefined, { ui: () => BUILT, ...options });
  const response = await serve(new Request(url));
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("what is refused before a path is looked at has the headers of the UI, too", async () => {
  const { status, headers } = await ask("http://127.0.0.1/ui/", { requestsMax: 0 });
  expect(status).toBe(429);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});
