import { describe, expect, test } from "vitest";
import { send, value } from "../support/client.ts";
import { idOf } from "../conformance/_world.ts";
import { hasBrowser } from "./_browser.ts";
import { incidentOn } from "./_incident.ts";
import { isReference } from "./_seeded.ts";
import { expectSound } from "./_tab.ts";
import { START_MS, useUi } from "./_ui.ts";

const EVENTS = /\/internal\/ui\/events$/;

/** Pages, each with a text of it, which all but settings have from the server. */
const PAGES = {
  "": "Greeter",
  "invocations": "Waiter/awakeables",
  "objects": "shelf",
  "objects/Counter/shelf": "41",
  "workflows": "w1",
  "workflows/Flow/w1": "waited for",
  "services": "Greeter",
  "services/Greeter": "greet",
  "limits": "Limits of services and handlers",
  "kafka": "No cluster is known",
  "sql?q=SELECT 40%2B2 AS answer": "42",
  "settings": "Theme",
} as const;

/** The admin API of a Worker is at the address of its ingress. Here it has a port of its own. */
const ALLOWED = { deno: [], workerd: [404] };

describe.skipIf(!hasBrowser || isReference).each(["deno", "workerd"] as const)(
  "pages of the UI on %s",
  (runtime) => {
    let waiter = "";
    const ui = useUi(async ({ server, endpoint }) => {
      await value(server, "Counter/shelf/add", 41);
      waiter = idOf(await send(server, "Waiter/awakeables", { id: "a1", count: 1 }));
      await send(server, "Flow/w1/run", "w1");
      await endpoint.announces("a1 awakeable 0");
      await endpoint.happens("w1 run");
    }, { runtime });

    test("show what the server has", { timeout: START_MS }, async () => {
      const ofIds = { [`invocations/${waiter}`]: "awakeable" };
      for (const [name, text] of Object.entries({ ...PAGES, ...ofIds })) {
        const tab = await ui.open(name, { allowed: ALLOWED[runtime] });
        await tab.page.getByRole("heading", { level: 1 }).waitFor();
        await tab.page.locator("main").getByText(text).first().waitFor();
        await expectSound(tab);
        expect(tab.wrong, name).toEqual([]);
        await tab.close();
      }
    });

    test("hear of what happens", async () => {
      const tab = await ui.open("objects/Counter/shelf");
      const { page } = tab;
      await page.waitForResponse(EVENTS);
      const state = page.getByRole("region", { name: "State" });
      await state.getByText("41", { exact: true }).waitFor();
      // With a stream of hints a page polls later than this test waits.
      await value(ui.server, "Counter/shelf/add", 1);
      await state.getByText("42", { exact: true }).waitFor();
      expect(tab.wrong).toEqual([]);
      await tab.close();
    });
  },
);

for (const runtime of ["deno", "workerd"] as const) incidentOn(runtime);
