import { describe, expect, test } from "vitest";
import { get, manage } from "../support/client.ts";
import { PlayedSidecar } from "../support/played_sidecar.ts";
import { hasBrowser } from "./_browser.ts";
import { BIDI, MARKUP } from "./_hostile.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, SHOWN_MS, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const SECRET = "a-password-of-brokers";

describe.skipIf(!hasBrowser || !isReference)("Kafka of the reference", () => {
  const ui = useUi(async ({ server }) => {
    const properties = { "bootstrap.servers": "localhost:9092", "sasl.password": SECRET };
    await manage(server, "POST /kafka-clusters", { name: "local", properties });
  });

  test("shows clusters, and what the server does not say", async () => {
    const tab = await ui.open("kafka");
    await tab.page.getByText("This server does not say how its subscriptions are").waitFor();
    await tab.page.getByText("bootstrap.servers=localhost:9092").waitFor();
    expect(await tab.page.content()).not.toContain(SECRET);
    await expectSound(tab);
    await tab.close();
  });
});

// The reference has no reports of sidecars, and so neither states nor lag.
describe.skipIf(!hasBrowser || isReference)("Kafka", () => {
  let id: string;

  const ui = useUi(async (ui) => {
    const properties = { "bootstrap.servers": "localhost:9092", "sasl.password": SECRET };
    await manage(ui.server, "POST /kafka-clusters", { name: "local", properties });
    const made = await manage(ui.server, "POST /subscriptions", {
      ...{ source: "kafka://local/orders", sink: "service://Greeter/note" },
      options: { "client.id": MARKUP + BIDI },
    });
    id = (made.body as { id: string }).id;
    const sidecar = new PlayedSidecar(ui.server, id);
    const stoppedBy = { kind: "poison", message: `key ${MARKUP}` };
    await sidecar.report("blocked", [
      { topic: "orders", partition: 3, position: 17, end: 42, stoppedBy },
    ]);
  });

  test("shows clusters without secrets, and how far subscriptions are", async () => {
    const tab = await ui.open("kafka");
    const { page } = tab;
    const one = page.getByRole("listitem", {
      name: "kafka://local/orders to service://Greeter/note",
    });
    await one.getByText("blocked").waitFor();
    const row = one.getByRole("row", { name: /orders/ });
    await soon(() => row.innerText()).toMatch(/orders\s+3\s+17\s+42\s+25/);
    await row.getByText(MARKUP).waitFor();
    await page.getByText("sasl.password=***").waitFor();
    await soon(() => one.getByRole("link", { name: "Its invocations" }).getAttribute("href"))
      .toBe(`invocations?filter=subscription%3A${id}`);
    expect(await page.content()).not.toContain(SECRET);
    expect(await page.locator("main img, main script").count()).toBe(0);
    await expectSound(tab);
    await tab.close();
  });

  test("says in place that a server has none", async () => {
    const tab = await ui.open("settings", { allowed: [404] });
    const { page } = tab;
    await page.context().route(
      /\/(kafka-clusters|subscriptions)$/,
      (route) => route.fulfill({ status: 404, body: "" }),
    );
    await page.getByRole("link", { name: "Kafka" }).click();
    await page.getByText("This server has no Kafka").waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("clusters are added and changed, and what is wrong is said in place", async () => {
    const tab = await ui.open("kafka", { allowed: [400, 409] });
    const { page } = tab;
    await page.getByRole("button", { name: "Add a cluster…" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Add a cluster" });
    await dialog.getByLabel("Name").fill("other");
    await dialog.getByLabel("Properties").fill("bootstrap.servers=localhost:9092\nclient.idd=x");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByText(/did you mean "client.id"/).waitFor();
    await expectSound(tab);
    await dialog.getByLabel("Properties").fill("bootstrap.servers=localhost:9092\nx");
    await dialog.getByText("No “name=value”: x").waitFor();
    await dialog.getByLabel("Properties").fill("bootstrap.servers=localhost:9092");
    await dialog.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: "Delete other" }).click();
    const question = page.getByRole("dialog", { name: "Delete other" });
    await question.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete other" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete local" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("the record that blocks is filled in once it is known, and what is typed stays", async () => {
    const tab = await ui.open("settings");
    const { page } = tab;
    let answer = () => {};
    const isAsked = new Promise<void>((resolve) => answer = resolve);
    await page.route("**/query", async (route) => {
      if (route.request().postData()?.includes("FROM sys_subscription_partition")) await isAsked;
      await route.continue();
    });
    await page.getByRole("link", { name: "Kafka" }).click();
    await page.getByRole("button", { name: "Skip a record…" }).click();
    const skip = page.getByRole("dialog", { name: "Skip a record" });
    await skip.getByLabel("Topic").fill("others");
    answer();
    const field = (label: string) => skip.getByLabel(label).inputValue();
    await expect.poll(() => field("Offset"), { timeout: SHOWN_MS }).toBe("17");
    expect([await field("Partition"), await field("Topic")]).toEqual(["3", "others"]);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("subscriptions are made, paused, changed and deleted, and records skipped", async () => {
    const tab = await ui.open("kafka", { allowed: [422] });
    const { page } = tab;
    const one = page.getByRole("listitem", { name: /orders to/ });
    await one.getByRole("button", { name: "Skip a record…" }).click();
    const skip = page.getByRole("dialog", { name: "Skip a record" });
    await soon(() => skip.getByLabel("Offset").inputValue()).toBe("17");
    await skip.getByRole("button", { name: "Skip" }).click();
    await skip.waitFor({ state: "detached" });
    await one.getByRole("button", { name: "Options…" }).click();
    const options = page.getByRole("dialog", { name: "Change options" });
    await options.getByLabel("Options").fill(`group.id=${id}\non.poison=skip`);
    await options.getByRole("button", { name: "Save" }).click();
    await options.waitFor({ state: "detached" });
    await one.getByRole("button", { name: "Pause" }).click();
    await one.getByRole("button", { name: "Resume" }).waitFor();
    await one.getByText("paused", { exact: true }).waitFor();
    const { body } = await get(`${ui.server.admin}/subscriptions/${id}`);
    expect(body).toMatchObject({ options: { "on.poison": "skip" } });
    await page.getByRole("button", { name: "Subscribe…" }).click();
    const make = page.getByRole("dialog", { name: "Subscribe" });
    await make.getByLabel("Topic").fill("payments");
    await make.getByRole("button", { name: "Subscribe" }).click();
    await make.getByRole("alert").waitFor();
    await make.getByLabel("Handler").selectOption("Counter/add");
    await make.getByRole("button", { name: "Subscribe" }).click();
    const made = page.getByRole("listitem", { name: /payments to/ });
    await made.getByRole("button", { name: "Delete…" }).click();
    const question = page.getByRole("dialog", { name: "Delete the subscription" });
    await question.getByRole("button", { name: "Delete" }).click();
    await made.waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
