import type { Transport } from "../support/endpoint.ts";
import { type RuntimeName, startServer } from "../support/server.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { asServer, startWorkerd } from "../workerd/_server.ts";
import {
  type Gap,
  MEMORY_GAPS,
  SQLD_GAPS,
  WORKERD_GAPS,
  WORKERD_SEVERAL_GAPS,
  WORKERD_SQLD_GAPS,
} from "./_gaps.ts";
import type { Subject } from "./_world.ts";

type Settings = Readonly<Record<string, string>>;

/** A column of the support table: a way to start a server. */
export interface Column {
  /** Of its file of results. */
  readonly key: string;
  /** Runtime and storage, for the head of the table. */
  readonly title: string;
  /** What endpoints are spoken to over. The first is tried with everything. */
  readonly transports: readonly Transport[];
  readonly gaps: readonly Gap[];
  /**
   * A server that runs, with no rows. Closing it closes all that was started for it. `more`: settings by
   * environment name without prefix, beside those of the column.
   */
  readonly start: (more?: Settings) => Promise<Subject>;
  /** Absent: it can be started on any machine. */
  readonly isAvailable?: () => Promise<boolean>;
}

/** One that cannot be started at all. */
export interface MissingColumn {
  readonly title: string;
  readonly why: string;
}

const SEVERAL = { DEFAULT_NUM_PARTITIONS: "3", STORAGE__DATABASES: "each", THREADS: "2" };

export const COLUMNS: readonly Column[] = [
  onFile("node", "Node, file"),
  onFile("deno", "Deno, file"),
  {
    ...onFile("node", "Node, 3 partitions, a file each, 2 threads", SEVERAL),
    key: "node-file-partitions",
    transports: ["h2"],
  },
  onSqld("node", "Node, libSQL server"),
  onSqld("deno", "Deno, libSQL server"),
  {
    key: "node-memory",
    title: "Node, memory",
    transports: ["h2"],
    gaps: MEMORY_GAPS,
    // Only who starts it loads the server into this process.
    start: async (more) => await (await import("./_memory_server.ts")).startInMemory(more),
  },
  {
    key: "workerd-durable-object",
    title: "workerd, Durable Object",
    transports: ["h2", "h1"],
    gaps: WORKERD_GAPS,
    start: async (more = {}) => asServer(await startWorkerd({ settings: more })),
  },
  {
    key: "workerd-durable-objects",
    title: "workerd, 3 Durable Objects",
    transports: ["h2"],
    gaps: WORKERD_SEVERAL_GAPS,
    start: async (more) =>
      asServer(await startWorkerd({ settings: { DEFAULT_NUM_PARTITIONS: "3", ...more } })),
  },
  {
    key: "workerd-sqld",
    title: "workerd, libSQL server",
    transports: ["h2"],
    gaps: WORKERD_SQLD_GAPS,
    isAvailable: async () => await sqldProgram() !== undefined,
    start: async (more) => {
      const sqld = await startSqld(await sqldProgram() ?? "");
      const settings = { STORAGE__DATABASE_URL: sqld.url, ...more };
      const server = asServer(await startWorkerd({ settings }));
      const close = server.close.bind(server);
      return Object.assign(server, { close: () => close().finally(() => sqld.close()) });
    },
  },
];

export const MISSING: readonly MissingColumn[] = [];

export function columnOf(key: string): Column {
  const found = COLUMNS.find((column) => column.key === key);
  if (found) return found;
  throw new Error(`Cannot find the column "${key}"`);
}

function onFile(
  runtime: RuntimeName,
  title: string,
  settings: Settings = {},
): Column {
  return {
    key: `${runtime}-file`,
    title,
    transports: ["h2", "h1"],
    gaps: [],
    start: (more) => startServer({ runtime, settings: { ...settings, ...more } }),
  };
}

function onSqld(runtime: RuntimeName, title: string): Column {
  return {
    key: `${runtime}-sqld`,
    title,
    transports: ["h2"],
    gaps: SQLD_GAPS,
    isAvailable: async () => await sqldProgram() !== undefined,
    start: async (more) => {
      const sqld = await startSqld(await sqldProgram() ?? "");
      const settings = { STORAGE__DATABASE_URL: sqld.url, ...more };
      const server = await startServer({ runtime, settings });
      const close = server.close.bind(server);
      return Object.assign(server, { close: () => close().finally(() => sqld.close()) });
    },
  };
}
