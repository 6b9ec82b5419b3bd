import { DurableObject } from "cloudflare:workers";
import { durableSqlite, type DurableStorage } from "../../adapters/workerd/durable_sqlite.ts";
import type { SqlValue } from "../../src/ports.ts";
import { type Answered, type Asked, fromPlain, toPlain } from "./_plain.ts";

/** A Worker that lends each of its objects' databases to a test outside. */
export class Database extends DurableObject<unknown> {
  readonly #client = durableSqlite(this.ctx.storage as DurableStorage);

  async batch(text: string): Promise<string> {
    const { mode, statements } = JSON.parse(text) as Asked;
    const own = statements.map(({ sql, args }) => ({
      sql,
      args: args.map((value) => fromPlain(value) as SqlValue),
    }));
    let answered: Answered;
    try {
      const results = await this.#client.batch(mode, own);
      answered = {
        results: results.map((rows) =>
          rows.map((row) =>
            Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toPlain(value)]))
          )
        ),
      };
    } catch (cause) {
      answered = { message: String(cause), isRefused: this.#client.isRefused(cause) };
    }
    return JSON.stringify(answered);
  }
}

interface Env {
  readonly DATABASE: {
    idFromName(name: string): DurableObjectId;
    get(id: DurableObjectId): { batch(text: string): Promise<string> };
  };
}

export default {
  async fetch(request: Request, { DATABASE }: Env): Promise<Response> {
    const name = new URL(request.url).pathname;
    const object = DATABASE.get(DATABASE.idFromName(name));
    return new Response(await object.batch(await request.text()));
  },
};
