import { afterEach } from "vitest";
import { nodeDial } from "../../adapters/dial/dial.ts";
import type { Dial, DialRequest, Exchange } from "../../src/dial.ts";
import type { Endpoint } from "./_endpoint.ts";

export const bytes = (text: string) => new TextEncoder().encode(text);
export const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export async function started(endpoint: Promise<Endpoint>): Promise<Endpoint> {
  const running = await endpoint;
  cleanups.push(() => running.close());
  return running;
}

export function dialer(options: Parameters<typeof nodeDial>[0] = {}): Dial {
  const dial = nodeDial(options);
  cleanups.push(() => dial.close());
  return dial;
}

export interface Talk {
  readonly exchange: Exchange;
  /** What the listener received, in order. */
  readonly received: string[];
  drained: number;
}

export function open(
  dial: Dial,
  url: string,
  { version = "h2", method = "POST", ...rest }: Partial<DialRequest> = {},
): Talk {
  const received: string[] = [];
  const headers = { "x-asked": "1" };
  const request = { url, version, method, headers, connectTimeoutMs: 2000, ...rest };
  const exchange = dial.open(request, {
    head: ({ status, httpVersion }) => received.push(`${status} ${httpVersion}`),
    chunk: (chunk) => received.push(new TextDecoder().decode(chunk)),
    end: () => received.push("end"),
    failed: ({ kind }) => received.push(`failed ${kind}`),
    drain: () => talk.drained++,
  });
  const talk: Talk = { exchange, received, drained: 0 };
  return talk;
}

export const over = ({ received }: Talk) => received.some((line) => /^(end|failed)/.test(line));
