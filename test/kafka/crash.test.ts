import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { crash, CRASH_MS, recordsOr, SEED } from "./_crash.ts";
import { TOKEN } from "./_fake_server.ts";
import { Facts } from "./_facts.ts";
import { SidecarProcess } from "./_sidecar.ts";

const jars = await brokerTools();

describe.skipIf(jars === undefined)(`killed at random, seed ${SEED}`, () => {
  const on = new Facts("perdure");
  beforeAll(() => on.start(jars!), 120_000);
  afterAll(() => on.close());

  const victims = {
    server: async (downMs: number) => {
      await on.target.stop("SIGKILL");
      await sleep(downMs);
      await on.target.start();
    },
    sidecar: async (downMs: number) => {
      await on.sidecar?.stop("SIGKILL");
      await sleep(downMs);
      on.sidecar = new SidecarProcess({ url: on.target.admin, token: TOKEN });
    },
    broker: async (downMs: number) => {
      await on.broker.stop("SIGKILL");
      await sleep(downMs);
      await on.broker.start();
    },
  };

  test("server, sidecar and broker lose no record, and do none twice or out of order", async () => {
    await crash(on, { records: recordsOr(4_000), recordsASecond: 330, victims });
  }, CRASH_MS);
});
