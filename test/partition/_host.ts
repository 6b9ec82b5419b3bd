import { clock } from "../../adapters/platform/clock.ts";
import { ONLY_PARTITION } from "../../src/model/ring.ts";
import { Host } from "../../src/partition/host.ts";
import type { AttemptRunner, HostOptions } from "../../src/partition/life.ts";
import type { Mailbox } from "../../src/ports.ts";
import { schema } from "../support/schema.ts";

/** Attempts that do nothing. `started`: is given the ids of their invocations. */
export function idleAttempts(started: string[] = []): (send: Mailbox) => AttemptRunner {
  return () => ({
    start: ({ invocation }) => void started.push(invocation.id),
    notify: () => {},
    abort: () => {},
    yield: () => {},
    close: () => {},
  });
}

/** A host that is not open, with limits that no test reaches; `options` win. */
export function hostWith(options: Pick<HostOptions, "store"> & Partial<HostOptions>): Host {
  return new Host({
    range: ONLY_PARTITION,
    clock,
    log: () => {},
    schema: () => schema,
    attempts: idleAttempts(),
    turnEventsMax: 1_000,
    releaseEffectsMax: 32,
    mailboxEventsMax: 65_536,
    residentBytesMax: 1e8,
    timersMax: 1_000,
    cleanupIntervalMs: 1e9,
    ...options,
  });
}
