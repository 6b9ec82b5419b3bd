import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { randomBytes } from "node:crypto";
import { nodeDial } from "../../adapters/dial/dial.ts";
import type { Attempt } from "../../src/engine/effect.ts";
import type { AttemptEnded, Event, FramesReceived } from "../../src/engine/event.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Entry } from "../../src/model/journal.ts";
import {
  type Deployment,
  type HandlerOptions,
  Schema,
  type SchemaDefaults,
} from "../../src/model/schema.ts";
import type { Clock } from "../../src/ports.ts";
import { Attempts } from "../../src/outbound/attempts.ts";
import type { OutboundDeps, OutboundOptions } from "../../src/outbound/options.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import { printInvocationId } from "../../src/model/id.ts";

export const realClock: Clock = {
  now: () => Date.now(),
  at: (due, call) => {
    const timer = setTimeout(call, Math.max(0, due - Date.now()));
    return () => clearTimeout(timer);
  },
  soon: (call) => void setImmediate(call),
};

const defaults: SchemaDefaults = {
  inactivityTimeoutMs: 60_000,
  abortTimeoutMs: 600_000,
  journalRetentionMs: 0,
  idempotencyRetentionMs: 0,
  workflowRetentionMs: 0,
  eagerStateBytesMax: 1_000_000,
  retry: {
    initialIntervalMs: 500,
    maxIntervalMs: 60_000,
    factor: 2,
    maxAttempts: 70,
    onMaxAttempts: "pause",
  },
};

/** A deployment of services `Svc` and `Obj`, whose handlers `run` have `options`. */
export function deploymentAt(
  uri: string,
  { options = {}, ...rest }: Partial<Deployment> & { readonly options?: HandlerOptions } = {},
): Deployment {
  const id = rest.id ?? "dp_1";
  const service = (name: string, access: "none" | "exclusive") => ({
    name,
    type: access === "none" ? "service" as const : "virtual_object" as const,
    deployment: id,
    revision: 1,
    public: true,
    options: {},
    handlers: { run: { name: "run", access, public: true, options } },
  });
  return {
    id,
    uri,
    mode: "bidi",
    httpVersion: "HTTP/2.0",
    dialect: "restate",
    additionalHeaders: {},
    metadata: {},
    minProtocol: 5,
    maxProtocol: 7,
    createdAt: 0,
    services: [service("Svc", "none"), service("Obj", "exclusive")],
    ...rest,
  };
}

/** What its attempts may depend on. */
export type BenchDeps = Pick<OutboundDeps, "signer" | "contention">;

/** Attempts against real endpoints, with all events that they send. */
export class Bench {
  readonly events: Event[] = [];
  readonly attempts: Attempts;
  /** Call them to make events durable. Emptied by `settle`. */
  readonly durable: (() => void)[] = [];
  readonly dial = nodeDial();
  /** Records of the log. */
  readonly logged: Record<string, unknown>[] = [];

  constructor(
    deployments: readonly Deployment[],
    { signer, contention, ...options }: Partial<OutboundOptions> & BenchDeps = {},
  ) {
    const schema = new Schema(deployments, defaults);
    this.attempts = new Attempts({
      dial: this.dial,
      clock: realClock,
      random: (size) => new Uint8Array(randomBytes(size)),
      log: (_level, message, fields) => this.logged.push({ message, ...fields }),
      send: (event, durable) => {
        this.events.push(event);
        if (durable) this.durable.push(durable);
      },
      schema: () => schema,
      signer,
      contention,
    }, options);
  }

  settle(): void {
    for (const durable of this.durable.splice(0)) durable();
  }

  get received(): FramesReceived[] {
    return this.events.filter((event) => event.type === "framesReceived");
  }

  get ended(): AttemptEnded[] {
    return this.events.filter((event) => event.type === "attemptEnded");
  }

  async close(): Promise<void> {
    this.attempts.close();
    await this.dial.close();
  }
}

let count = 0;

export const input: Entry = { kind: "input", headers: [], value: new Uint8Array([34, 34]) };

export function attempt(
  { entries = [input], state, service = "Svc", key, number = 1, ...row }:
    & Partial<Omit<Attempt, "attempt" | "invocation">>
    & Partial<Omit<InvocationRow, "attempt" | "state">>
    & { readonly service?: string; readonly key?: string; readonly number?: number } = {},
): Attempt {
  const bytes = new Uint8Array(24);
  bytes[10] = ++count & 255;
  bytes[11] = count >> 8;
  const invocation: InvocationRow = {
    id: printInvocationId(bytes),
    target: {
      service,
      handler: "run",
      ...(key !== undefined && { key }),
      type: key === undefined ? "service" : "virtual_object",
      access: key === undefined ? "none" : "exclusive",
    },
    status: { kind: "invoked" },
    origin: { by: "ingress" },
    attempt: number,
    heard: 0,
    journal: entries.length,
    commands: 1,
    failures: 0,
    failuresSinceCommand: 0,
    callers: [],
    retention: { resultMs: 0, journalMs: 0 },
    createdAt: 0,
    modifiedAt: Date.now(),
    ...row,
  };
  return { type: "attempt", attempt: number, invocation, entries, ...(state && { state }) };
}

export function frame<M extends DescMessage>(
  type: number,
  schema: M,
  value: MessageInitShape<M>,
): Uint8Array {
  return encodeFrame(type, toBinary(schema, create(schema, value)));
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
