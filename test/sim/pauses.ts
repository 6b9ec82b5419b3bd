import type { InvocationRow } from "../../src/model/invocation.ts";
import { printQueueId, queueOf } from "../../src/model/queue.ts";
import type { Rows } from "../../src/model/rows.ts";
import type { Controllers } from "./controllers.ts";
import { must } from "./must.ts";
import type { SlotCommit } from "./slots.ts";

/** Checks that no attempt of one partition is ordered while its service, deployment or queue is paused. */
export class PauseCheck {
  readonly #controllers: Pick<Controllers, "at" | "schema">;
  /** The last attempt of each invocation. */
  readonly #attempts = new Map<string, number>();

  constructor(controllers: Pick<Controllers, "at" | "schema">) {
    this.#controllers = controllers;
  }

  commit({ writes, since, until }: SlotCommit): void {
    for (const { table, row, drop } of writes) {
      if (table !== "invocation") continue;
      const { id, attempt, status } = row as Rows["invocation"];
      const known = this.#attempts.get(id) ?? 0;
      if (drop) this.#attempts.delete(id);
      else this.#attempts.set(id, attempt);
      if (!drop && status.kind === "invoked" && attempt > known) {
        this.#mayStart(row as Rows["invocation"], since, until);
      }
    }
  }

  #mayStart(row: InvocationRow, since: number, until: number): void {
    const pause = pauseOf(row, this.#controllers, { since, until });
    must(pause === undefined, () => `"${row.id}" begins, and its ${pause} is paused`);
  }
}

/**
 * What was paused of an invocation from one change of the controls to another. Undefined: nothing was
 * paused for all of that time. A pause that came or went meanwhile may not have been known, or not any more.
 */
export function pauseOf(
  row: InvocationRow,
  controllers: Pick<Controllers, "at" | "schema">,
  { since, until }: { readonly since: number; readonly until: number },
): string | undefined {
  const { target: { service }, pin } = row, queue = printQueueId(queueOf(row));
  const latest = controllers.schema.latest(service)?.deployment ?? "";
  let pause: string | undefined;
  for (let version = since; version <= until; version++) {
    const { services, pausedDeployments, pausedQueues } = controllers.at(version);
    if (services.get(service)?.paused) pause = "service";
    else if (pausedDeployments.has(pin?.deployment ?? latest)) pause = "deployment";
    else if (pausedQueues.has(queue)) pause = "queue";
    else return undefined;
  }
  return pause;
}
