import http from "node:http";
import https from "node:https";
import { expect } from "vitest";
import { parseMetrics, valueOf } from "../observe/_parse.ts";
import { until } from "../support/child.ts";

/** A process that is attacked. */
export interface Watched {
  /** The URLs of its ports, with and without TLS. */
  readonly ports: { readonly ingress: string; readonly admin: string };
  /** A token that may read its metrics. */
  readonly token: string;
  isAlive(): boolean;
  /** Everything that it printed. */
  output(): string;
}

/**
 * How much more a process may hold than at the start, in bytes. Runs of half a million requests left
 * 150 MB: V8 gives back pages of its heap late. What is kept of each request grows beyond any bound.
 */
const GROWTH_MAX = 300 * 1024 ** 2;
const READ_MS = 10_000, RETURN_MS = 30_000;

interface Page {
  readonly status: number;
  readonly text: string;
}

/** Over a connection of its own, which trusts any certificate: `fetch` cannot. */
function read(url: string, token?: string): Promise<Page> {
  const { get } = url.startsWith("https:") ? https : http;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(READ_MS);
  return new Promise((resolve, reject) => {
    const options = { headers, rejectUnauthorized: false, agent: false, signal } as const;
    get(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => text += chunk).on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    }).on("error", reject);
  });
}

/** The memory of a process in bytes. */
export async function memoryOf({ ports, token }: Watched): Promise<number> {
  const { status, text } = await read(`${ports.admin}/metrics`, token);
  expect(status, text).toBe(200);
  return valueOf(parseMetrics(text), "perdure_process_resident_memory_bytes")!;
}

/** It is alive, answers on both ports, found no bug, and holds little more than `before`. */
export async function expectSame(one: Watched, before: number): Promise<void> {
  expect(one.isAlive(), one.output()).toBe(true);
  const { admin, ingress } = one.ports;
  expect((await read(`${admin}/health`)).status, admin).toBe(200);
  expect((await read(`${ingress}/svc/health`)).status, ingress).toBe(200);
  const errors = one.output().split("\n").filter((line) => line.includes(`"level":"error"`));
  expect(errors, admin).toEqual([]);
  const last = { grown: 0 };
  await until(
    `memory of ${admin} to return below ${GROWTH_MAX} bytes more than before`,
    async () => {
      last.grown = await memoryOf(one) - before;
      return last.grown < GROWTH_MAX;
    },
    RETURN_MS,
  ).catch((cause) => {
    throw new Error(`${String(cause)}: it holds ${last.grown} more`, { cause });
  });
}
