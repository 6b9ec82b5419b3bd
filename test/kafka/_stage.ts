import { afterAll, afterEach, beforeAll, beforeEach, test, vi } from "vitest";
import { type Broker, type BrokerOptions, startBroker } from "./broker/broker.ts";
import { FakeServer } from "./_fake_server.ts";
import { type SidecarOptions, SidecarProcess } from "./_sidecar.ts";
import { Topics } from "./_topics.ts";

/** One broker for all tests of a file; a server and sidecars for each of them. */
export interface Stage {
  broker: Broker;
  topics: Topics;
  server: FakeServer;
  /** Starts one more sidecar. */
  sidecar(options?: Partial<SidecarOptions>): SidecarProcess;
  /** A name that no other test uses. */
  name(): string;
}

const START_MS = 120_000;
/** Longer than `eventually` waits, which then says for what. */
const TEST_MS = 90_000;

/**
 * The tests of a file, each with a stage of its own as `on`, so that they may run at the same time: they
 * wait more than they work. The broker is one, and starts before the first of them. `jars`: undefined
 * where they are skipped.
 */
export function stagedTest(jars: string | undefined, options: BrokerOptions = {}) {
  vi.setConfig({ testTimeout: TEST_MS });
  let broker: Broker, topics: Topics, names = 0;
  if (jars !== undefined) {
    beforeAll(async () => {
      broker = await startBroker(jars, options);
      topics = new Topics(broker.client());
    }, START_MS);
    afterAll(async () => {
      await topics?.close();
      await broker?.close();
    });
  }
  const name = () => `t${++names}`;
  return test.extend<{ on: Stage }>({
    // deno-lint-ignore no-empty-pattern
    on: async ({}, use) => {
      const [server, sidecars]: [FakeServer, SidecarProcess[]] = [new FakeServer(), []];
      await server.start();
      server.cluster("k", { "bootstrap.servers": broker.address });
      const sidecar = (given: Partial<SidecarOptions> = {}) => {
        const one = new SidecarProcess({ url: server.url, state: () => server.state(), ...given });
        sidecars.push(one);
        return one;
      };
      await use({ broker, topics, server, sidecar, name });
      await Promise.all(sidecars.map((one) => one.stop("SIGKILL")));
      await server.stop();
    },
  });
}

/** Sets the stage for the tests of a file. `jars`: undefined where they are skipped. */
export function stage(jars: string | undefined, options: BrokerOptions = {}): Stage {
  vi.setConfig({ testTimeout: TEST_MS });
  const sidecars: SidecarProcess[] = [];
  let names = 0;
  const stage: Stage = {
    broker: undefined as unknown as Broker,
    topics: undefined as unknown as Topics,
    server: undefined as unknown as FakeServer,
    sidecar: (given = {}) => {
      const one = new SidecarProcess({
        url: stage.server.url,
        state: () => stage.server.state(),
        ...given,
      });
      sidecars.push(one);
      return one;
    },
    name: () => `t${++names}`,
  };
  if (jars === undefined) return stage;
  beforeAll(async () => {
    stage.broker = await startBroker(jars, options);
    stage.topics = new Topics(stage.broker.client());
  }, START_MS);
  beforeEach(async () => {
    stage.server = new FakeServer();
    await stage.server.start();
    stage.server.cluster("k", { "bootstrap.servers": stage.broker.address });
  });
  afterEach(async () => {
    await Promise.all(sidecars.splice(0).map((one) => one.stop("SIGKILL")));
    await stage.server.stop();
  });
  afterAll(async () => {
    await stage.topics?.close();
    await stage.broker?.close();
  });
  return stage;
}
