import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { ask, register, send, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { idOf } from "../conformance/_world.ts";
import { hasBrowser, openBrowser } from "./_browser.ts";
import { MARKUP } from "./_hostile.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, openTab, type Tab } from "./_tab.ts";
import { START_MS, useUi } from "./_ui.ts";

const dialogOf = ({ page }: Tab) => page.getByRole("dialog", { name: "Complete a promise" });

// The reference has no route that completes a promise.
describe.skipIf(!hasBrowser || isReference)("a promise of a workflow", () => {
  const ui = useUi();
  const begin = async (key: string) => {
    const id = idOf(await send(ui.server, `Flow/${key}/run`, key));
    await ui.endpoint.happens(`${key} run`);
    return id;
  };

  test("is resolved by keys after a question, and the workflow ends", async () => {
    const id = await begin("w1");
    const tab = await ui.open("workflows/Flow/w1");
    const { page } = tab;
    await page.getByRole("button", { name: "Complete go…" }).focus();
    await page.keyboard.press("Enter");
    const dialog = dialogOf(tab);
    await dialog.getByText("This cannot be undone.").waitFor();
    expect(await dialog.getByLabel("Promise").inputValue()).toBe("go");
    await dialog.getByLabel("Value", { exact: true }).focus();
    await page.keyboard.type("yes");
    await dialog.getByText("This is no JSON").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(JSON.stringify({ by: MARKUP }));
    await dialog.getByText("This is JSON.").waitFor();
    await expectSound(tab);
    await dialog.getByRole("button", { name: "Resolve for good" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Promise go: resolved").waitFor();
    const promises = page.getByRole("region", { name: "Promises" });
    await promises.getByText("resolved", { exact: true }).waitFor();
    await promises.getByText(MARKUP).waitFor();
    await page.getByText("succeeded").first().waitFor();
    expect(await promises.getByRole("button", { name: "Complete go…" }).count()).toBe(0);
    expect(await ask(ui.server, `attach/${id}`)).toMatchObject({
      status: 200,
      body: { id: "w1", value: { by: MARKUP } },
    });
    await expectSound(tab);
    await tab.close();
  });

  test("is rejected from the page of the run that waits for it", async () => {
    const id = await begin("w2");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    await page.getByText("Waits for a promise of its workflow:").waitFor();
    await expectSound(tab);
    await page.getByRole("button", { name: "Complete go…" }).click();
    const dialog = dialogOf(tab);
    await dialog.getByLabel("Reject it with a reason").check();
    await dialog.getByLabel("Reason", { exact: true }).fill(`too late ${MARKUP}`);
    await dialog.getByRole("button", { name: "Reject for good" }).click();
    await page.getByText("Promise go: rejected").waitFor();
    await page.locator(".sentence").getByText("succeeded").waitFor();
    await page.getByText("Waits for a promise").waitFor({ state: "detached" });
    expect(await ask(ui.server, `attach/${id}`)).toMatchObject({
      body: { id: "w2", code: 500, message: `too late ${MARKUP}` },
    });
    await expectSound(tab);
    await tab.close();
  });

  test("that somebody else has completed is refused with that reason, in place", async () => {
    await begin("w3");
    const tab = await ui.open("workflows/Flow/w3", { allowed: [409] });
    const { page } = tab;
    await page.getByRole("button", { name: "Complete go…" }).click();
    const dialog = dialogOf(tab);
    await dialog.getByLabel("Value", { exact: true }).fill("1");
    await value(ui.server, "Flow/w3/resolve", "first");
    // The page shows the result and removes the button. The dialog has to stay open.
    await page.locator("[aria-labelledby=promises]").getByText("first").waitFor();
    await dialog.getByRole("button", { name: "Resolve for good" }).click();
    await dialog.getByRole("alert").getByText("it was completed before").waitFor();
    await dialog.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("region", { name: "Promises" }).getByText("first").waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("is completed by its name before anything waits for it, of a known workflow", async () => {
    await begin("w4");
    const tab = await ui.open("workflows/Flow/w4", { allowed: [404] });
    const { page } = tab;
    const complete = async () => {
      await page.getByRole("button", { name: "Complete another promise…" }).click();
      const dialog = dialogOf(tab);
      expect(await dialog.getByRole("button", { name: "Resolve for good" }).isDisabled())
        .toBe(true);
      await dialog.getByLabel("Promise").fill(MARKUP);
      await dialog.getByRole("button", { name: "Resolve for good" }).click();
      return dialog;
    };
    await complete();
    await page.getByRole("region", { name: "Promises" }).getByText(MARKUP).waitFor();
    await page.goto(ui.at("workflows/Flow/nobody"));
    const dialog = await complete();
    await dialog.getByRole("alert").getByText("no run of the workflow is stored").waitFor();
    await expectSound(tab);
    await tab.close();
  });
});

describe.skipIf(!hasBrowser || isReference)("a promise of a workflow, with tokens", () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>, server: Server, endpoint: Endpoint;

  beforeAll(async () => {
    const lines = ["viewer", "operator", "admin"].map(async (role) =>
      `${role} ${await digestOf(`token-of-${role}`)} ${role}`
    );
    const settings = { AUTH__TOKENS: (await Promise.all(lines)).join("\n") };
    [browser, server, endpoint] = await Promise.all([
      openBrowser(),
      startServer({ runtime: "node", settings }),
      startEndpoint("h2"),
    ]);
    await register({ ...server, token: "token-of-admin" }, endpoint);
    const response = await fetch(`${server.ingress}/svc/send/Flow/w1/run`, {
      method: "POST",
      headers: { authorization: "Bearer token-of-operator", "content-type": "application/json" },
      body: '"w1"',
    });
    expect(response.status).toBe(202);
    await endpoint.happens("w1 run");
  }, START_MS);
  afterAll(() => Promise.all([browser?.close(), server?.close(), endpoint?.close()]));

  test("is completed by an operator, and by no viewer, who is told so", async () => {
    for (const role of ["viewer", "operator"]) {
      const tab = await openTab(browser, `${server.admin}/ui/workflows/Flow/w1`, {
        allowed: [401, 403],
      });
      const { page } = tab;
      await page.getByLabel("Token").fill(`token-of-${role}`);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Complete go…" }).click();
      const dialog = dialogOf(tab);
      await dialog.getByLabel("Value", { exact: true }).fill("1");
      await dialog.getByRole("button", { name: "Resolve for good" }).click();
      if (role === "viewer") {
        await dialog.getByRole("alert").getByText("needs the role operator").waitFor();
        await expectSound(tab);
      } else await page.getByText("succeeded").first().waitFor();
      expect(tab.wrong).toEqual([]);
      await tab.close();
    }
  });
});
