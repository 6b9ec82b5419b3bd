import type { Controllers } from "./controllers.ts";
import type { Disks } from "./disks.ts";
import type { Faults, Limits } from "./faults.ts";
import type { History } from "./history.ts";
import { LaneCheck } from "./lanes.ts";
import { PauseCheck } from "./pauses.ts";
import { ShareCheck } from "./shares.ts";
import { SlotCheck, type SlotCommit } from "./slots.ts";
import { StartCheck } from "./starts.ts";

export interface LimitChecksOptions {
  readonly controllers: Controllers;
  readonly disks: Disks;
  readonly history: History;
  readonly faults: Faults;
  readonly limits: Limits;
}

/** What a server that holds all that waits in memory has, at least: `LaneCheck` knows no other order. */
const ROOMY = 256;

/** All checks of limits, priorities and pauses. */
export class LimitChecks {
  /** By partition. */
  readonly slots: readonly SlotCheck[];
  readonly #lanes: readonly LaneCheck[];
  readonly #pauses: readonly PauseCheck[];
  readonly #shares: ShareCheck | undefined;
  readonly #starts: StartCheck | undefined;

  constructor({ controllers, disks, history, faults, limits }: LimitChecksOptions) {
    const { clockStepMs, clockSkewMs, clockDrift } = faults;
    const isPunctual = !clockStepMs && !clockSkewMs && !clockDrift;
    const { isControlled, partitions, queueWindow, grantsMax, priorityAgingMs: agingMs } = limits;
    const isAlone = partitions === 1;
    this.slots = disks.each.map(() => new SlotCheck(controllers, { isPunctual, isAlone }));
    this.#pauses = isControlled ? disks.each.map(() => new PauseCheck(controllers)) : [];
    const isOrdered = isControlled && isPunctual && queueWindow >= ROOMY && grantsMax >= ROOMY;
    this.#lanes = isOrdered
      ? disks.each.map(() => new LaneCheck({ controllers, agingMs, isAlone }))
      : [];
    const underWay = () => history.deliveries.underWay();
    if (!isControlled || isAlone) return;
    this.#shares = new ShareCheck({ controllers, disks, slots: this.slots, underWay });
    this.#starts = new StartCheck({ controllers, disks, underWay, isPunctual });
  }

  /** As `ShareCheck` has it. */
  get uncorrected(): string | undefined {
    return this.#shares?.uncorrected;
  }

  /** Takes a commit of a partition. Throws `Broken`. */
  commit(partition: number, commit: SlotCommit): void {
    const slots = this.slots[partition];
    slots?.commit(commit);
    this.#pauses[partition]?.commit(commit);
    this.#lanes[partition]?.commit(commit);
    if (!slots) return;
    this.#shares?.commit(commit, partition, slots);
    this.#starts?.commit(commit, slots);
  }
}
