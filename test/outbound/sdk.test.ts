import { type Context, createEndpointHandler, service } from "@restatedev/restate-sdk";
import http from "node:http";
import http2 from "node:http2";
import { expect, test, vi } from "vitest";
import type { Attempt } from "../../src/engine/effect.ts";
import type { Event } from "../../src/engine/event.ts";
import type { Command } from "../../src/model/command.ts";
import { type Entry, entryType } from "../../src/model/journal.ts";
import { discover } from "../../src/outbound/discover.ts";
import { attempt, Bench, deploymentAt, input, realClock } from "./_attempts.ts";
import { listen, until } from "./_endpoint.ts";
import { slept } from "./_scripts.ts";

// Read when the SDK is loaded.
vi.hoisted(() => globalThis.process.env.RESTATE_LOGGING = "ERROR");

// The SDK needs it; Node has it from version 22 on.
(Promise as { withResolvers?: unknown }).withResolvers ??= () => {
  let resolve, reject;
  const promise = new Promise((yes, no) => [resolve, reject] = [yes, no]);
  return { promise, resolve, reject };
};

const svc = service({
  name: "Svc",
  handlers: {
    run: async (ctx: Context) => {
      const one = await ctx.run("one", () => 1);
      await ctx.sleep(10);
      const two = await ctx.run("two", () => 2);
      return one + two;
    },
  },
});

/** As much of an engine as this handler needs: it stores, completes, and starts again. */
class Play {
  readonly #bench: Bench;
  readonly #entries: Entry[] = [input];
  readonly #begun: Attempt = attempt();
  #handled = 0;
  attempts = 0;
  result: string | undefined;

  constructor(bench: Bench) {
    this.#bench = bench;
  }

  start(): void {
    const attempt = ++this.attempts;
    this.#bench.attempts.start({ ...this.#begun, attempt, entries: [...this.#entries] });
  }

  /** Handles the events since the last call. Returns whether the invocation is over. */
  step(): boolean {
    const events = this.#bench.events.slice(this.#handled);
    this.#handled += events.length;
    for (const event of events) this.#apply(event);
    this.#bench.settle();
    return this.result !== undefined;
  }

  #apply(event: Event): void {
    if (event.type === "framesReceived") { for (const frame of event.frames) this.#command(frame); }
    if (event.type !== "attemptEnded") return;
    if (event.outcome.kind === "suspended") this.start();
    else expect(event.outcome).toEqual({ kind: "ended" });
  }

  #command(command: Command): void {
    switch (command.kind) {
      case "run":
        return this.#append({ kind: "command", type: entryType.run, bytes: command.bytes });
      case "runCompletion":
        return this.#append({
          kind: "notification",
          type: entryType.runCompletion,
          id: { kind: "completion", id: command.completion },
          result: command.result,
        });
      case "sleep":
        this.#append({ kind: "command", type: entryType.sleep, bytes: command.bytes });
        return this.#append(slept(command.completion));
      case "output":
        expect(command.result.kind).toBe("value");
        this.result = new TextDecoder().decode((command.result as { value: Uint8Array }).value);
        return;
      default:
        throw new Error(`did not expect ${command.kind}`);
    }
  }

  #append(entry: Entry): void {
    const { id } = this.#begun.invocation;
    const notify = {
      type: "notify",
      id,
      attempt: this.attempts,
      index: this.#entries.length,
      entry,
    };
    this.#entries.push(entry);
    this.#bench.attempts.notify(notify as Parameters<Bench["attempts"]["notify"]>[0]);
  }
}

const cases = [true, false].flatMap((bidirectional) =>
  [5, 6, 7].map((protocolMax) => ({ bidirectional, protocolMax }))
);
for (const { bidirectional, protocolMax } of cases) {
  const transport = bidirectional ? "HTTP/2, bidirectional" : "HTTP/1.1, request-response";
  test(`the TypeScript SDK in version ${protocolMax} over ${transport}`, async () => {
    const handler = createEndpointHandler({ services: [svc], bidirectional });
    const server = bidirectional
      ? http2.createServer(handler)
      : http.createServer(handler as unknown as http.RequestListener);
    const endpoint = await listen(server);
    const bench = new Bench([]);
    const found = await discover({
      uri: endpoint.uri,
      useHttp11: !bidirectional,
      additionalHeaders: {},
    }, {
      dial: bench.dial,
      clock: realClock,
      clusterName: "c",
      connectTimeoutMs: 1000,
      timeoutMs: 5000,
      bodyBytesMax: 1_000_000,
      partsMax: 1000,
    });
    expect(found.manifest.mode).toBe(bidirectional ? "bidi" : "requestResponse");
    expect(found.sdkVersion).toMatch(/typescript/);
    const { mode } = found.manifest;
    const { httpVersion, dialect } = found;
    const own = new Bench([deploymentAt(endpoint.uri, { mode, httpVersion, dialect })], {
      protocolMax,
    });
    const play = new Play(own);
    play.start();
    await until(() => play.step());
    expect(play.result).toBe("3");
    expect(play.attempts).toBe(bidirectional ? 1 : 4);
    await until(() => own.ended.at(-1)?.outcome.kind === "ended");
    await own.close();
    await bench.close();
    await endpoint.close();
  });
}
