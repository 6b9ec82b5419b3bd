import { Cluster } from "./cluster.ts";
import { Chance } from "./chance.ts";
import {
  damaging,
  type Faults,
  feeding,
  gathering,
  type Limits,
  limits,
  named,
  swarm,
  threading,
} from "./faults.ts";
import { added, type Program } from "./program.ts";
import { Broken, must } from "./must.ts";
import type { System } from "./system.ts";
import { entryType } from "../../src/model/journal.ts";
import { objectOf } from "../../src/model/target.ts";
import { KEPT_MS } from "./schema.ts";
import { fromBytes } from "./spoken.ts";
import { cancelsOf, type InvocationRecord, lives } from "./invocation_record.ts";
import { World } from "./world.ts";

/** What became of one seed. */
export interface Run {
  readonly seed: number;
  readonly faults: Faults;
  readonly limits: Limits;
  /** What was broken. Absent: nothing. */
  readonly reason?: string;
  readonly trace: readonly string[];
  readonly commits: number;
  readonly deaths: number;
  readonly simulatedMs: number;
}

/** Make other seeds of one. */
const FEEDING = 0x5eed;
const GATHERING = 0xc40d;
const DAMAGING = 0xda3a;
const THREADING = 0x7ead;
/** For how long things go wrong. */
const FAULTS_MS = 4_000;
/** How long everything may take to finish after that. */
const TIMEOUT_MS = 120_000;
const ALARMS_MAX = 60_000;

export interface SimulateOptions {
  /** Sabotage: the disk lets every owner write. */
  readonly isUnfenced?: boolean;
  /** Circumstances that a seed does not choose. */
  readonly under?: Partial<Faults & Limits>;
}

/** One seed, one universe: its faults, its clients, and the promises that must be kept. */
export async function simulate(
  system: System,
  seed: number,
  { isUnfenced = false, under = {} }: SimulateOptions = {},
): Promise<Run> {
  const world = new World(seed), start = world.mono;
  const { isFed, inboxMax, lettersAfter, ...lost } = feeding(new Chance(seed ^ FEEDING));
  const damaged = damaging(new Chance(seed ^ DAMAGING));
  const { threads, channelMs } = threading(new Chance(seed ^ THREADING));
  const faults = { ...swarm(world.chance), ...lost, ...damaged, channelMs, ...under };
  const gathered = gathering(new Chance(seed ^ GATHERING));
  const fed = { isFed, inboxMax, lettersAfter };
  const tight = { ...limits(world.chance), ...gathered, ...fed, threads, ...under };
  const cluster = new Cluster({ world, system, faults, limits: tight });
  for (const disk of cluster.disks.each) disk.isFenced = !isUnfenced;
  const count = world.chance.int(2, tight.isControlled ? 20 : 12);
  cluster.invite({ count, from: 0, to: world.chance.pick([300, 1_500]) });
  cluster.invite({ count: world.chance.int(0, 3), from: FAULTS_MS, to: FAULTS_MS + 3_000 });
  if (tight.isFed) cluster.feed(FAULTS_MS);
  cluster.owners.haunt(FAULTS_MS);
  cluster.meddle(FAULTS_MS);
  try {
    await play(world, cluster);
  } catch (cause) {
    cluster.failed(cause);
  }
  const { failure, disks, owners: { deaths } } = cluster;
  return {
    seed,
    faults,
    limits: tight,
    deaths,
    ...(failure === undefined ? {} : { reason: textOfFailure(failure) }),
    trace: world.trace,
    commits: disks.commits,
    simulatedMs: world.mono - start,
  };
}

async function play(world: World, cluster: Cluster): Promise<void> {
  const alarmsMax = ALARMS_MAX;
  const done = () => cluster.isDone();
  const failed = () => cluster.failure !== undefined;
  await world.run(failed, { alarmsMax, until: world.mono + FAULTS_MS });
  if (failed()) return;
  cluster.calm();
  const finished = await world.run(done, { alarmsMax, until: world.mono + TIMEOUT_MS });
  if (failed()) return;
  must(finished, () => unfinished(cluster));
  cluster.topics?.mustBeMade();
  sums(cluster);
  const isFree = () => failed() || cluster.leftOver === undefined;
  await world.run(isFree, { alarmsMax, until: world.mono + TIMEOUT_MS });
  must(isFree(), () => cluster.leftOver ?? "");
  const isSettled = () => failed() || cluster.owners.unsettled === undefined;
  await world.run(isSettled, { alarmsMax, until: world.mono + TIMEOUT_MS });
  must(isSettled(), () => cluster.owners.unsettled ?? "");
  // Repeats of requests come in; then time passes, and what was kept long enough goes.
  await world.run(failed, { alarmsMax, until: world.mono + 1_000 });
  await world.run(done, { alarmsMax, until: world.mono + TIMEOUT_MS });
  if (failed()) return;
  await world.run(failed, { alarmsMax, until: world.mono + 100 });
  // A batch that comes late, and once more, may be on its way into the store.
  const answered = () => failed() || cluster.waiting === 0;
  await world.run(answered, { alarmsMax, until: world.mono + TIMEOUT_MS });
  must(cluster.waiting === 0, () => `${cluster.waiting} requests wait, and all were answered`);
  world.skip(2 * KEPT_MS);
  const left = () => cluster.disks.all("invocation").length + cluster.disks.all("bucket").length;
  const gone = () => failed() || left() === 0;
  const isGone = await world.run(gone, { alarmsMax, until: world.mono + TIMEOUT_MS });
  must(isGone, () => `${left()} invocations and buckets were never forgotten`);
  if (!cluster.topics) return;
  // Records come once more when nothing is known of their invocations.
  cluster.topics.again();
  const isFed = await world.run(done, { alarmsMax, until: world.mono + TIMEOUT_MS });
  must(isFed && left() === 0, () => `${left()} invocations came of records that came again`);
}

function unfinished(cluster: Cluster): string {
  const { clients, history, disks, attempts } = cluster;
  const waiting = clients.filter(({ isDone }) => !isDone).map(({ plan }) => plan.id);
  const open = [...history.unfinished].map((id) => `${id} ${history.record(id).row.status.kind}`);
  return `Not everything finished: clients "${waiting}", invocations "${open}", ${
    disks.all("timer").length
  } timers, ${attempts} attempts, ${[...history.deliveries.underWay()].length} messages, ${
    cluster.topics?.isConsumed === false ? "some" : "no"
  } records`;
}

/** Counters hold what ran: each accepted invocation once, no more and no less. */
function sums({ history, clients }: Cluster): void {
  const sums = new Map<string, number>();
  for (const last of history.records.values()) {
    for (const record of lives(last)) {
      const { row: { id, target: { service, key, scope, access } }, entries: [input] } = record;
      if (input?.kind !== "input" || key === undefined || access !== "exclusive") continue;
      const object = objectOf(service, key, scope);
      const counted = history.states.counts.get(`${object} ${id}`) ?? 0;
      // Of several lives of one id each counted.
      const more = record === last ? counted : 0;
      sums.set(object, (sums.get(object) ?? 0) + more);
      const wanted = added(fromBytes<Program>(input.value));
      const isWhole = !last.before && hasRunFreely(record);
      must(!isWhole || counted === wanted, () => `"${id}" counted ${counted} of ${wanted}`);
    }
  }
  for (const [object, sum] of sums) {
    if (object.endsWith("/z") || history.states.uncounted.has(object)) continue;
    const value = Number(history.states.objects.get(object)?.get("n") ?? 0);
    must(value === sum, () => `"${object}" counted ${value}, and ${sum} were to be counted`);
  }
  for (const { plan: { id, kind } } of clients) {
    must(kind === "once" || history.records.has(id), () => `"${id}" was lost`);
  }
}

/** Whether a handler came to its end, and nobody canceled it or gave it a journal. */
function hasRunFreely(record: InvocationRecord): boolean {
  const { result, copied, entries } = record;
  // Who ended in the turn that purged it left a part of its journal unseen.
  const isSeen = entries.some((one) => one.kind === "command" && one.type === entryType.output);
  const isItsOwn = result?.kind === "value" || result?.failure.code === 418;
  return isItsOwn && isSeen && copied <= 1 && cancelsOf(record) === 0;
}

function textOfFailure(failure: unknown): string {
  if (failure instanceof Broken) {
    return failure.cause === undefined ? failure.message : `${failure.message}: ${failure.cause}`;
  }
  return failure instanceof Error ? failure.stack ?? failure.message : String(failure);
}

/** All that one needs to see a seed fail again. */
export function explained({ seed, reason, faults, limits, trace }: Run): string {
  const tight = Object.entries(limits).map(([name, value]) => `${name}=${value}`).join(" ");
  return [
    `Seed ${seed}: ${reason}`,
    `faults: ${named(faults)}`,
    `limits: ${tight}`,
    `repeat: SEED=${seed} SEEDS=1 npx vitest run test/sim/simulate.test.ts`,
    ...trace.slice(-Number(globalThis.process.env["TRACE"] ?? 25)),
  ].join("\n");
}
