import type { Queued } from "../../src/engine/flow/slots.ts";
import type { Rows, Timer } from "../../src/model/rows.ts";
import type { Owned } from "./_contract.ts";

/** What every scan finds, page by page. `limit`: rows of a page. */
export async function scans({ store, lease }: Owned, limit: number): Promise<unknown[]> {
  const found: unknown[] = [];
  let after: string | undefined;
  let timer: Timer | undefined;
  let row: Rows["outbox"] | undefined;
  let lastStatus: string | undefined;
  for (let page = 0; page < 3; page++) {
    const statuses = await store.scanStatuses?.(
      lease,
      lastStatus === undefined ? { limit } : { after: lastStatus, limit },
    );
    found.push(statuses);
    lastStatus = statuses?.at(-1)?.id ?? lastStatus;
    const invoked = await store.scan(lease, {
      kind: "holders",
      limit,
      ...(after === undefined ? {} : { after }),
    });
    const timers = await store.scan(lease, {
      kind: "timers",
      limit,
      ...(timer === undefined ? {} : { after: timer }),
    });
    const sent = await store.scan(lease, { kind: "outbox", limit, ...(row && { after: row }) });
    found.push(invoked, timers, sent);
    row = sent.at(-1) ?? row;
    after = invoked.at(-1)?.id ?? after;
    timer = timers.at(-1) ?? timer;
  }
  for (const until of [-1, 0, 10, 1e15]) {
    found.push(await store.scan(lease, { kind: "expired", until, limit }));
    found.push(await store.scan(lease, { kind: "fullBuckets", until, limit }));
  }
  return [
    ...found,
    ...await queues({ store, lease }, limit),
    ...await byId("ingested", { store, lease }, limit),
    ...await byId("letters", { store, lease }, limit),
  ];
}

async function queues({ store, lease }: Owned, limit: number): Promise<unknown[]> {
  const found: unknown[] = [];
  let after: Queued | undefined;
  for (let page = 0; page < 3; page++) {
    const queued = await store.scan(lease, { kind: "queued", limit, ...(after && { after }) });
    found.push(queued);
    after = queued.at(-1) ?? after;
    if (!after) return found;
    found.push(await store.scan(lease, { kind: "queued", limit, after, isSameQueue: true }));
  }
  return found;
}

async function byId(
  kind: "ingested" | "letters",
  { store, lease }: Owned,
  limit: number,
): Promise<unknown[]> {
  const found: unknown[] = [];
  let after: string | undefined;
  for (let page = 0; page < 3; page++) {
    const last = after === undefined ? {} : { after };
    const rows = await store.scan(lease, { kind, limit, ...last });
    found.push(rows);
    after = rows.at(-1)?.id ?? after;
  }
  return found;
}
