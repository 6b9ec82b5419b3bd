import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, test } from "vitest";
import { TestFleet } from "../fleet/_fleet.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { SIDECAR_TOKEN } from "../support/server.ts";
import { sqldProgram } from "../support/sqld.ts";
import { brokerTools, startBroker } from "./broker/broker.ts";
import { crash, CRASH_MS, recordsOr, SEED } from "./_crash.ts";
import { Facts } from "./_facts.ts";
import { SidecarProcess } from "./_sidecar.ts";
import { Topics } from "./_topics.ts";

const [jars, program] = [await brokerTools(), await sqldProgram()];
const PROCESSES = 3;
const SIDECARS = 2;

/**
 * A fleet of tests gives up a request after 2 s, and a lease after 1.5 s. On a busy machine the database
 * is slower: it went on with requests that were given up, and repeated, while leases ran out again and
 * again, so that no partition was served (35 times in 150 s, at a load of 40).
 */
const PATIENT = {
  STORAGE__REQUEST_TIMEOUT: "10s",
  FLEET__HEARTBEAT_INTERVAL: "500ms",
  FLEET__LEASE_DURATION: "4s",
};

/** As `Facts`, with several servers over one database, and sidecars that know all of them. */
class FleetFacts extends Facts {
  fleet!: TestFleet;
  readonly sidecars: SidecarProcess[] = [];

  override get adminUrl(): string {
    return this.fleet.admin;
  }

  override async start(jars: string): Promise<void> {
    const settings = { LOG_LEVEL: "info", ...PATIENT };
    const fleet = { program: program!, processes: PROCESSES, partitions: 6, settings };
    const services = path.join(import.meta.dirname, "services_kafka.mjs");
    [this.broker, this.fleet, this.endpoint] = await Promise.all([
      startBroker(jars),
      TestFleet.start(fleet),
      startEndpoint("h2", services),
    ]);
    this.topics = new Topics(this.broker.client());
    for (let n = 0; n < SIDECARS; n++) this.sidecars.push(this.newSidecar());
    await this.fleet.settled();
    await this.register();
    await this.admin("POST", "kafka-clusters", {
      name: "k",
      properties: { "bootstrap.servers": this.broker.address },
    });
  }

  newSidecar(): SidecarProcess {
    const url = this.fleet.members.map(({ server }) => server.admin).join(",");
    return new SidecarProcess({ url, token: SIDECAR_TOKEN });
  }

  override async close(): Promise<void> {
    await Promise.all(this.sidecars.map((one) => one.stop("SIGKILL")));
    await this.topics?.close();
    await this.fleet?.close();
    await this.endpoint?.close();
    await this.broker?.close();
  }
}

describe.skipIf(jars === undefined || program === undefined)(`a fleet, seed ${SEED}`, () => {
  let on: FleetFacts;
  beforeEach(async () => {
    on = new FleetFacts("perdure");
    await on.start(jars!);
  }, 120_000);
  afterEach(() => on.close());

  const server = (n: number) => async (downMs: number) => {
    const { server } = on.fleet.member(n);
    await server.stop("SIGKILL");
    await sleep(downMs);
    await server.start();
  };
  const sidecar = (n: number) => async (downMs: number) => {
    await on.sidecars[n]?.stop("SIGKILL");
    await sleep(downMs);
    on.sidecars[n] = on.newSidecar();
  };
  const victims = {
    server0: server(0),
    server1: server(1),
    server2: server(2),
    sidecar0: sidecar(0),
    sidecar1: sidecar(1),
    broker: async (downMs: number) => {
      await on.broker.stop("SIGKILL");
      await sleep(downMs);
      await on.broker.start();
    },
  };

  test(
    "servers, sidecars and broker lose no record, and do none twice or out of order",
    async () => {
      await crash(on, { records: recordsOr(1_440), recordsASecond: 150, victims });
    },
    CRASH_MS,
  );
});
