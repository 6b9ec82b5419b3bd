import type { Effect } from "../../src/engine/effect.ts";
import type { Event, SharesEvent } from "../../src/engine/event.ts";
import { step } from "../../src/engine/step.ts";
import { type RowView, Turn } from "../../src/engine/turn.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Controls } from "../../src/model/limits.ts";
import type { Message } from "../../src/model/message.ts";
import { ONLY_PARTITION, type PartitionRange } from "../../src/model/ring.ts";
import type { Rows } from "../../src/model/rows.ts";
import { printTarget } from "../../src/model/target.ts";
import { Inboxes } from "../../src/partition/inboxes.ts";
import { Resident } from "../../src/partition/resident.ts";
import { Schema } from "../../src/model/schema.ts";
import { Scheduler } from "../../src/partition/flow/scheduler.ts";
import { deployment, schema } from "../support/schema.ts";
import { parse } from "./_script.ts";
import { controlsAfter } from "./_script_controls.ts";

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

/**
 * Plays a script and writes down what the engine did. One line, one turn:
 *   at 0 invoke i1 counter/bob/add [after=500]
 *   at 100 hear i1#1 0 sleep:1:500 set:n:5 run:2 runCompletion:2:x call:3:4:greeter/hi out:done
 *   at 3 end i1#1 suspended:1@3        (awaits completion 1; entries below 3 were delivered)
 *   at 4 end i1#1 suspended:all=1,2@3  (both, or the cancel signal)
 *   at 4 end i1#1 failed at=3/dp_1/sdk (it started at 3; otherwise nobody knows where it ran)
 *   at 5 signal i1 17:yes · at 6 ask i1 wait · at 7 operate i1 restart i9 from=2 keep
 *   at 8 records t/0 3:counter/bob/add 5:greeter/hi next=7   (of a topic: `records`)
 * `at 9 inbox 2` begins a life of the partition with room for two invocations of a subscription.
 * Limits and pauses (`controlsAfter`) change between turns; what the scheduler proposes is shown as
 * `⇒`, and its turn runs with
 *   at 8 limit blue 1 · at 8 hold service greeter · at 9 grant i2
 *   at 8 deploy dp_2 (the latest from now on) · at 8 update dp_1 (in place)
 */
export function transcript(script: string): string {
  const partition = new Stage();
  const out: string[] = [];
  for (const line of script.trim().split("\n").map((line) => line.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    const [, at, ...words] = line.split(" ");
    out.push(`> ${line}`);
    if (!partition.control(Number(at), words)) {
      const event = words[0] === "grant" ? partition.grantOf(words[1] ?? "") : parse(words);
      out.push(...shownTurn(partition.play(Number(at), event)));
    }
    out.push(...partition.proposals());
  }
  return out.join("\n") + "\n";
}

/** What a scheduler proposes. */
type Proposed = SharesEvent | Event & { type: "granted" };

/** A partition whose memory is all there is. */
export class Stage {
  #inboxes = new Inboxes();
  readonly #resident = new Resident(
    1e9,
    (before, row, isGone) => this.#inboxes.invocationChanged(before, row, isGone),
  );
  readonly #place: PartitionRange;
  readonly #scheduler: Scheduler;
  readonly #deployments = [deployment];
  #schema = new Schema([deployment], { ...schema.defaults, yieldThresholdMs: 500 });
  #now = 0;
  #commit = 0;
  #attemptForgotten = 0;
  #proposed: Proposed[] = [];
  #shown = 0;

  constructor(place: PartitionRange = ONLY_PARTITION) {
    this.#place = place;
    this.#scheduler = new Scheduler({
      range: place,
      clock: { now: () => this.#now, at: () => () => {}, soon: (call) => call() },
      schema: () => this.#schema,
      send: (event) => void this.#proposed.push(event as Proposed),
      load: () => Promise.resolve([]),
      onFailure: (cause) => {
        throw cause;
      },
    });
  }

  /** Changes limits and pauses. Returns false: the words are about something else. */
  control(at: number, words: readonly string[]): boolean {
    if (words[0] === "inbox") {
      this.#inboxes = new Inboxes(Number(words[1]));
      return true;
    }
    const controls = controlsAfter(this.#schema.controls, words) ?? this.#deploy(words);
    if (!controls) return false;
    this.#now = at;
    this.#schema = new Schema(this.#deployments, this.#schema.defaults, controls);
    this.#scheduler.controlsChanged();
    return true;
  }

  /** Registers a deployment with all services, as the latest one, or updates a known one in place. */
  #deploy([verb, id = ""]: readonly string[]): Controls | undefined {
    if (verb !== "deploy" && verb !== "update") return undefined;
    const at = this.#deployments.findIndex((one) => one.id === id);
    const revision = at < 0 ? this.#deployments.length + 1 : at + 1;
    const services = deployment.services.map((one) => ({ ...one, deployment: id, revision }));
    const made = { ...deployment, id, uri: `http://${verb}/`, services };
    if (at < 0) this.#deployments.push(made);
    else this.#deployments[at] = made;
    return this.#schema.controls;
  }

  /** The proposal for an invocation, whose turn is to run. */
  grantOf(id: string): Event {
    return this.#propose((one) => one.type === "granted" && one.id === id, id);
  }

  /** The first proposal about a share, whose turn is to run. */
  shareEvent(): Event {
    return this.#propose((one) => one.type !== "granted", "a change of a share");
  }

  #propose(isIt: (one: Proposed) => boolean, what: string): Event {
    const found = this.#proposed.find(isIt);
    if (!found) throw new Error(`Nobody proposes ${what}`);
    this.#proposed = this.#proposed.filter((one) => one !== found);
    this.#shown = this.#proposed.length;
    return found;
  }

  /** What was proposed since the last call, a line each. */
  proposals(): string[] {
    const lines = this.#proposed.slice(this.#shown).map((one) => {
      if (one.type !== "granted") return `  ⇒ ${plain(one)}`;
      return `  ⇒ grant ${one.id} seq=${one.seq} reserved=${one.reserved.join(" ")}`;
    });
    this.#shown = this.#proposed.length;
    return lines;
  }

  /** One turn with one event. `at`: when, in milliseconds since the epoch. */
  play(at: number, event: Event): Turn {
    this.#now = at;
    const turn = new Turn(at, this.#schema, {
      rows: emptyIsKnown(this.#resident),
      range: this.#place,
      attemptForgotten: this.#attemptForgotten,
      slots: this.#scheduler,
      nextSeq: this.#scheduler.nextSeq,
      inboxes: this.#inboxes,
    });
    step(turn, event);
    this.#scheduler.apply(turn.slots);
    this.#attemptForgotten = turn.attemptForgotten;
    this.#resident.apply(turn, ++this.#commit);
    this.#resident.markDurable(this.#commit);
    return turn;
  }
}

/** What a turn did, a line each. */
export function shownTurn({ writes, effects }: Turn): string[] {
  if (writes.length + effects.length === 0) return ["  (nothing)"];
  return [
    ...writes.map(({ table, row, drop }) =>
      `  ${drop ? "drop" : "put"} ${table} ${brief(table, row)}`
    ),
    ...effects.map((effect) => `  → ${told(effect)}`),
  ];
}

/** A slice over an empty store: what memory does not have does not exist. */
function emptyIsKnown(resident: Resident): RowView {
  return {
    find: (table, group, item) => resident.find(table, group, item) ?? null,
    list: (table, group) => resident.list(table, group) ?? present(resident, table, group),
  };
}

function* present(resident: Resident, table: keyof Rows, group: string): Generator<never> {
  // Only state and inbox groups are ever partly known here; their items are few and named.
  for (const item of ["n", "m", "k", "p", 0, 1, 2, 3]) {
    const row = resident.find(table, group, item);
    if (row) yield row as never;
  }
}

function brief(table: keyof Rows, row: Rows[keyof Rows]): string {
  if (table === "journal") {
    const { id, index, entry } = row as Rows["journal"];
    return `${id}/${index} ${brief1(entry)}`;
  }
  if (table === "outbox") {
    const { from, to, seq, message } = row as Rows["outbox"];
    // Of a dropped one only the name is there.
    const isGone = message.type === "killed" && message.id === "";
    return `${from}/${to} ${seq}${isGone ? "" : `: ${briefMessage(message)}`}`;
  }
  if (table !== "invocation") return "seq" in row && "after" in row ? briefEvent(row) : plain(row);
  const {
    id,
    status,
    target,
    attempt,
    heard,
    journal,
    callers,
    failures,
    expiresAt,
    output,
    ...more
  } = row as Rows["invocation"];
  return [
    id,
    plain(status),
    `${target.service}/${target.handler}`,
    `attempt=${attempt}`,
    `heard=${heard}`,
    `journal=${journal}`,
    ...admission(more),
    ...(failures ? [`failures=${failures}`] : []),
    ...(more.lastAttempt ? [`last=${shown(more.lastAttempt)}`] : []),
    ...(callers.length ? [`callers=${callers.map(({ id }) => id)}`] : []),
    ...(output ? [`output=${text(output)}`] : []),
    ...(expiresAt === undefined ? [] : [`expires=${expiresAt}`]),
  ].join(" ");
}

/** `failed` is shown where failures were repeated before, which events do not count by themselves. */
function briefEvent(row: Rows["event"]): string {
  const { failed, ...event } = row;
  return plain(failed === row.seq + 1 ? event : row);
}

/** What it waited for a lock is not shown, since every play of objects would have it. */
function admission(
  { limitKey, priority, waitedMs = {} }: Pick<InvocationRow, "limitKey" | "priority" | "waitedMs">,
): string[] {
  const { lock: _, ...waited } = waitedMs;
  return [
    ...(limitKey === undefined ? [] : [`limitKey=${limitKey}`]),
    ...(priority === undefined ? [] : [`priority=${priority}`]),
    ...(Object.keys(waited).length === 0 ? [] : [`waited=(${plain(waited)})`]),
  ];
}

function brief1(entry: Rows["journal"]["entry"]): string {
  if (entry.kind === "input") return `input ${text(entry.value)}`;
  if (entry.kind === "command") return text(entry.bytes);
  return `${entry.type.toString(16)} ${plain(entry.id)} ${plain(entry.result)}`;
}

function briefMessage(message: Message): string {
  if (message.type !== "invoked") return plain(message);
  const { id, target, startAt, caller } = message;
  return [
    `invoked ${id} ${printTarget(target)}`,
    ...(startAt === undefined ? [] : [`start=${startAt}`]),
    ...(caller ? [`caller=(${plain(caller)})`] : []),
  ].join(" ");
}

function told(effect: Effect): string {
  switch (effect.type) {
    case "forward":
      return `forward to ${effect.to} ${effect.seq}`;
    case "attempt": {
      const { invocation, attempt, entries, state } = effect;
      const map = state?.pairs.map(({ name, value }) => `${name}=${text(value)}`);
      const { deployment: on = "dp_1" } = invocation.pin ?? {};
      return `attempt ${invocation.id}#${attempt} entries=${entries.length}${
        map ? ` state={${map}}` : ""
      }${on === "dp_1" ? "" : ` on=${on}`}`;
    }
    case "notify":
      return `notify ${effect.id}#${effect.attempt} ${effect.index} ${brief1(effect.entry)}`;
    case "completed":
      return `completed ${effect.id} ${plain(effect.result)}`;
    default:
      return plain(effect);
  }
}

function plain(value: object): string {
  return Object.entries(value).map(([name, part]) =>
    name === "kind" || name === "type" ? String(part) : `${name}=${shown(part)}`
  ).join(" ");
}

function shown(part: unknown): string {
  if (part instanceof Uint8Array) return text(part);
  return typeof part === "object" && part !== null ? `(${plain(part)})` : String(part);
}
