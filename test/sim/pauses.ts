import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Controls } from "../../src/model/limits.ts";
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

  /** A pause that came or went meanwhile may not have been known, or not any more. */
  #mayStart(row: InvocationRow, since: number, until: number): void {
    let pause: string | undefined;
    for (let version = since; version <= until; version++) {
      pause = this.#pauseOf(row, this.#controllers.at(version));
      if (pause === undefined) return;
    }
    must(pause === undefined, () => `"${row.id}" begins, and its ${pause} is paused`);
  }

  #pauseOf(row: InvocationRow, controls: Controls): string | undefined {
    const { target: { service }, pin } = row;
    const { services, pausedDeployments, pausedQueues } = controls;
    if (services.get(service)?.paused) return "service";
    const latest = this.#controllers.schema.latest(service)?.deployment ?? "";
    if (pausedDeployments.has(pin?.deployment ?? latest)) return "deployment";
    return pausedQueues.has(printQueueId(queueOf(row))) ? "queue" : undefined;
  }
}
