import type { QuerySource } from "../../../src/introspection/copy/source.ts";
import { failed } from "../../../src/introspection/refusal.ts";
import type { Row } from "../../../src/introspection/render/format.ts";
import type { QueryLimits } from "../../../src/introspection/request.ts";
import { Failure } from "../../../src/errors.ts";
import type { SqlClient, Statement } from "../../../src/ports.ts";
import { withRetries } from "../../../src/storage/retry.ts";
import { QueryConnection } from "./database.ts";
import type { QueryAddress } from "./messages.ts";
import { remoteClient } from "../remote/client.ts";
import { RemoteError } from "../remote/error.ts";
import { clock } from "../../platform/clock.ts";

/** How long a request that was lost is repeated: connections that were kept may be gone. */
const RETRY_MS = 2000;

/** A source for one query. */
export interface OpenedSource extends QuerySource {
  close(): void;
}

/** Opens databases for queries, each by connections that nobody else uses. */
export class Sources {
  readonly #limits: QueryLimits;
  /** By address: what is asked of a server is asked over connections that are kept. */
  readonly #clients = new Map<QueryAddress, SqlClient>();

  constructor(limits: QueryLimits) {
    this.#limits = limits;
  }

  /** Rejects with a `Failure` when it is not there. */
  async open(address: QueryAddress): Promise<OpenedSource> {
    if (address.kind === "file") return await fileSource(address.url, this.#limits);
    let client = this.#clients.get(address);
    if (!client) {
      // It loads slowly, and where there is a file nobody needs it.
      const { createClient } = await import("@libsql/client/http");
      const timeoutMs = Math.min(address.timeoutMs, this.#limits.timeMs);
      client = this.#clients.get(address) ?? remoteClient(createClient, { ...address, timeoutMs });
      this.#clients.set(address, client);
    }
    return serverSource(client);
  }
}

/** A file, over a connection that reads it as it is at one moment. */
async function fileSource(url: string, limits: QueryLimits): Promise<OpenedSource> {
  const connection = await QueryConnection.open(url, limits);
  let begun: Promise<void> | undefined;
  const ask = async ({ sql, args }: Statement): Promise<readonly Row[]> =>
    await connection.rows(sql, args);
  return {
    async read(statements) {
      await (begun ??= connection.run("begin"));
      const pages: (readonly Row[])[] = [];
      for (const one of statements) pages.push(await ask(one));
      return pages;
    },
    close: () => connection.close(),
  };
}

/** A server, which reads each page as it is at that moment. */
function serverSource(client: SqlClient): OpenedSource {
  return {
    async read(statements) {
      const read = () => client.batch("read", statements);
      try {
        const pages = await withRetries(client, read, { clock, retryMs: RETRY_MS });
        return pages.map((rows) => rows.map((row) => Object.values(row) as unknown as Row));
      } catch (cause) {
        throw cause instanceof RemoteError ? unreadable(cause) : cause;
      }
    },
    close: () => {},
  };
}

/** The address of a database is nothing for strangers. It is in the cause. */
function unreadable(cause: RemoteError): Failure {
  if (!cause.isLost) return failed(`Cannot run the query: a database refuses it`, { cause });
  return Failure.plain(503, "Cannot run the query: a database does not answer", { cause });
}
