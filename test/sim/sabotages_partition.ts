import { COLD, RESTARTS } from "./circumstances.ts";
import type { Sabotage } from "./sabotage.ts";

/** Broken commits, memory, boots and timers. */
export const SABOTAGES_PARTITION: readonly Sabotage[] = [
  {
    name: "effects are released before their commit",
    file: "partition/commits.ts",
    find: "    if (this.#onHandedOver.length > 0) this.#tellHandedOver();\n",
    replace: "    this.#options.release(group.effects.splice(0));\n",
  },
  {
    name: "commits overtake each other",
    file: "partition/commits.ts",
    find: "if (!group || this.#inFlight || this.#isStopped) return;",
    replace: "if (!group || this.#isStopped) return;",
  },
  {
    name: "what a failed commit asked for is released",
    file: "partition/commits.ts",
    find: "    }, (cause) => this.#fail(cause));",
    replace: "    }, (cause) => (this.#settled(group, number), this.#fail(cause)));",
  },
  {
    name: "a failed commit is shrugged off",
    file: "partition/commits.ts",
    find: "if (!this.#isStopped) this.#options.onFailure(cause);",
    replace: "this.#inFlight = undefined;",
    under: { batchLost: 0.3 },
  },
  {
    name: "a stopped partition still releases",
    file: "partition/commits.ts",
    find: "      if (this.#isStopped) return;\n      meter?.committed",
    replace: "      meter?.committed",
  },
  {
    name: "a stopped partition releases what is left",
    file: "partition/releases.ts",
    find: "  stop(): void {\n    this.#groups = [];",
    replace: "  stop(): void {",
    under: { releaseEffectsMax: 1, batchLost: 0.1 },
  },
  {
    name: "what does not fit a lot is lost",
    file: "partition/releases.ts",
    find: "group.released += lot.length;",
    replace: "group.released = effects.length;",
    under: { releaseEffectsMax: 1 },
  },
  {
    name: "memory keeps a dropped row",
    file: "partition/resident.ts",
    find: "if (!drop) this.#set(group, item, row);",
    replace: "if (!drop || !group.isWhole) this.#set(group, item, row);",
  },
  {
    name: "memory forgets what is not durable",
    file: "partition/resident.ts",
    find: "return commit <= this.#durable && commit <= this.#visible;",
    replace: "return commit <= Infinity;",
    under: COLD,
  },
  {
    name: "memory forgets what a load does not see",
    file: "partition/resident.ts",
    find: "return commit <= this.#durable && commit <= this.#visible;",
    replace: "return commit <= this.#durable;",
    under: COLD,
  },
  {
    name: "what is loaded replaces what is newer",
    file: "partition/resident.ts",
    find: "if (!group.rows.has(at)) this.#set(group, at, row);",
    replace: "this.#set(group, at, row);",
    under: COLD,
  },
  {
    name: "a part of a group passes for the whole",
    file: "partition/resident.ts",
    find: "if (item === undefined) group.isWhole = true;",
    replace: "group.isWhole = true;\n      if (item === undefined) continue;",
    under: COLD,
  },
  {
    name: "events of an abandoned turn are lost",
    file: "partition/partition.ts",
    find: "      this.#attempt(mail, now);\n    })",
    replace: "      this.#attempt(mail.slice(1), now);\n    })",
  },
  {
    name: "a turn that missed a row is kept",
    file: "partition/partition.ts",
    find: "if (wants.length === 0) {",
    replace: "if (wants.length === 0 || mail.length > 1) {",
  },
  {
    name: "a bare turn may break the partition",
    file: "partition/partition.ts",
    find: "if (cause !== miss && !isBare) throw cause;",
    replace: "if (cause !== miss) throw cause;",
  },
  {
    name: "what no turn has room for is lost",
    file: "partition/partition.ts",
    find: "end === all.length ? [] : all.slice(end);",
    replace: "[];",
  },
  {
    name: "the lease is claimed after the first load",
    file: "partition/host.ts",
    find: "    const lease = await store.claim(partition);\n",
    replace: "    const lost = await this.#lost({ partition, epoch: 0 });\n" +
      "    const lease = await store.claim(partition);\n",
    also: { find: "    const lost = await this.#lost(lease);\n", replace: "" },
    under: { secondOwner: true, crash: 0, commitMs: 20, loadMs: 300, residentBytesMax: 1e9 },
  },
  {
    name: "a boot lets things start before it knows what was lost",
    file: "partition/host.ts",
    find: "    const lost = await this.#lost(lease);\n",
    replace: "",
    also: {
      find: 'for (const id of lost) life.partition.send({ type: "recovered", id });',
      replace:
        'for (const id of await this.#lost(lease)) life.partition.send({ type: "recovered", ' +
        "id });",
    },
    under: RESTARTS,
  },
  {
    name: "who waits for a failed partition is not told",
    file: "partition/host.ts",
    find:
      "    this.#end(life);\n    this.#waiters.fail(this.#unavailable());\n    this.#restart(cause);",
    replace: "    this.#end(life);\n    this.#restart(cause);",
  },
  {
    name: "who waits for a partition that cannot start is not told",
    file: "partition/host.ts",
    find: "      this.#waiters.fail(this.#unavailable());\n      throw cause;",
    replace: "      throw cause;",
    under: RESTARTS,
  },
  {
    name: "who was answered at once is remembered for ever",
    file: "partition/follower.ts",
    find: "    this.#options.forget();\n",
    replace: "",
  },
  {
    name: "attempts outlive their partition",
    file: "partition/life.ts",
    find: "  attempts.close();\n",
    replace: "",
  },
  {
    name: "a failed partition stays down",
    file: "partition/host.ts",
    find: "    this.#restart(cause);\n  }\n\n  #end",
    replace: "  }\n\n  #end",
  },
  {
    name: "nobody looks for what expired",
    file: "partition/host.ts",
    find: "    life.sweeper.start();\n",
    replace: "",
  },
  {
    name: "the sweeper stops when the store does not answer",
    file: "partition/sweeper.ts",
    find: "        this.#later(everyMs);\n      });",
    replace: "      });",
    under: RESTARTS,
  },
  {
    name: "timers of the last process are not read",
    file: "partition/host.ts",
    find: "await life.timers.open();",
    replace: "await Promise.resolve();",
  },
  {
    name: "timers beyond the horizon are not fetched",
    file: "partition/timers.ts",
    find: "this.#refill().catch((cause) => this.#options.onFailure(cause));",
    replace: "",
  },
  {
    name: "an earlier timer does not move the alarm",
    file: "partition/timers.ts",
    find: "if (this.#alarm && this.#alarm.due <= first.due) return;",
    replace: "if (this.#alarm) return;",
    under: { timersMax: 1_000, clockStepMs: 0 },
  },
  {
    name: "a timer that comes while a page is on its way is dropped",
    file: "partition/timers.ts",
    find: "if (!this.#isLoading && this.#horizon && order(timer, this.#horizon) > 0) return;",
    replace: "if (this.#isLoading || (this.#horizon && order(timer, this.#horizon) > 0)) return;",
    under: { loadMs: 300, timersMax: 1, clockStepMs: 0 },
  },
];
