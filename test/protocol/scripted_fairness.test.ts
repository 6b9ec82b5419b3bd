import { expect, test } from "vitest";
import { until } from "../support/child.ts";
import { say } from "./_script_say.ts";
import { attempt, stage } from "./_script_stage.ts";

// No line of the checklist: what an endpoint that never stops does to others.

const { play } = stage();
const FAR = 4_000_000_000_000;

for (const transport of ["h2", "h1"] as const) {
  test(
    `beside a stream over ${transport} that never ends, other calls are answered while it goes on`,
    async () => {
      let isOver = false, sent = 0;
      const endless = await play({ transport }, async (one) => {
        await one.replay();
        while (!isOver && !one.isClosed) {
          await one.send(...Array.from({ length: 500 }, () => say.sleep(++sent, FAR)));
        }
        one.reset();
      });
      const other = await play({}, async (one) => {
        await one.replay();
        await one.succeed();
      });
      endless.call().catch(() => {});
      const stream = await attempt(endless, 1);
      await until("the first commands", () => sent > 2_000);
      for (let calls = 0; calls < 10; calls++) {
        expect((await other.call()).status).toBe(200);
      }
      expect(endless.attempts).toHaveLength(1);
      expect(stream.isClosed).toBe(false);
      isOver = true;
      // What is sent already would be read first, and slowly.
      stream.reset();
      await stream.until("its end", () => stream.isClosed);
    },
    60_000,
  );
}
