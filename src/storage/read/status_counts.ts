import type { InvocationStatus, StatusPage } from "../../ports.ts";
import { compareText } from "../codec/order.ts";
import type { Overlay } from "../overlay/overlay.ts";
import { scanSql } from "./sql.ts";
import { fromSafe, toSafe } from "../codec/safe_text.ts";
import { gather, type Read } from "./scan.ts";
import { statement } from "../codec/sql_text.ts";

/**
 * One page of the statuses of all invocations, from the tables and the overlay, which it reads at once.
 * No fold may start meanwhile.
 */
export function scanStatuses(
  { after, limit }: StatusPage,
  read: Read,
  { overlay, partition }: { readonly overlay: Overlay; readonly partition: number },
): Promise<InvocationStatus[]> {
  const live: InvocationStatus[] = [];
  const known = new Set<string>();
  for (const [id, , { row }] of overlay.known("invocation")) {
    known.add(id);
    if (!row || after !== undefined && compareText(id, after) <= 0) continue;
    const { target: { service, handler }, status: { kind: status } } = row;
    live.push({ id, service, handler, status });
  }
  return gather(
    {
      page: (last) =>
        statement(scanSql.scanStatuses, partition, toSafe(last?.id ?? after ?? ""), limit),
      decode: ({ id, status, service, handler }) => ({
        id: fromSafe(id as string),
        status: status as InvocationStatus["status"],
        service: fromSafe(service as string),
        handler: fromSafe(handler as string),
      }),
      compare: (a: InvocationStatus, b: InvocationStatus) => compareText(a.id, b.id),
      live,
      isStale: ({ id }) => known.has(id),
    },
    read,
    limit,
  );
}
