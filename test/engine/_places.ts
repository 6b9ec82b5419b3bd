import type { Event } from "../../src/engine/event.ts";
import { INVOCATION_ID_BYTES, printInvocationId } from "../../src/model/id.ts";
import type { Message } from "../../src/model/message.ts";
import { partitionOfId, type PartitionRange } from "../../src/model/ring.ts";
import { parse } from "./_script.ts";
import { shownTurn, Stage } from "./transcript.ts";

const LETTERS = "abcd";
const NAME = /\b([a-d]|x)\d+\b/g;
const ID = /inv_1[0-9A-Za-z]{33}/g;

/**
 * Plays a script in several partitions, and writes down what each did. As `transcript`, with names
 * that tell the partition: `a1` is in partition 0, `b1` in 1, of as many as there are letters.
 * Whoever was called is named when it is met: `x1`, `x2` …; `id=x1` of nobody else.
 *   at 5 bring a>b 1-2          (the first two messages that a wrote for b, as one batch)
 *   at 6 acknowledge a>b 1-2    (b has them)
 * Limits and deployments change everywhere at once. What the scheduler of a partition proposes is shown with
 * its letter, and its turn runs with
 *   at 7 grant a1 · at 8 share a   (the first proposal of a about a share)
 */
export function between(partitions: number, script: string): string {
  const play = new Play(partitions), out: string[] = [];
  for (const line of script.trim().split("\n").map((line) => line.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    out.push(`> ${line}`, ...play.line(line));
  }
  return out.join("\n") + "\n";
}

class Play {
  readonly #partitions: number;
  readonly #stages: readonly Stage[];
  /** Everything that was ever sent, by `a>b`. */
  readonly #sent = new Map<string, Message[]>();
  readonly #ids = new Map<string, string>();
  readonly #names = new Map<string, string>();
  #met = 0;

  constructor(partitions: number) {
    this.#partitions = partitions;
    this.#stages = Array.from(
      { length: partitions },
      (_, partition) => new Stage({ partition, partitions }),
    );
  }

  line(line: string): string[] {
    const [, at = "", verb = "", ...rest] = line.split(" ");
    const changed = this.#stages.map((stage) => stage.control(Number(at), [verb, ...rest]));
    const shown = changed.includes(true) ? [] : this.#turn(line, Number(at), [verb, ...rest]);
    const proposals = this.#stages.flatMap((stage, partition) =>
      stage.proposals().map((text) => text.replace("⇒", `${LETTERS[partition]} ⇒`))
    );
    return [...shown, ...proposals].map((text) => text.replace(ID, (id) => this.#nameOf(id)));
  }

  #turn(line: string, at: number, [verb = "", ...rest]: readonly string[]): string[] {
    const { place, event } = verb === "bring" || verb === "acknowledge"
      ? this.#moved(verb, rest)
      : this.#said([verb, ...rest]);
    const stage = this.#stages[place.partition];
    if (!stage) throw new Error(`Nothing is where "${line}" is`);
    const turn = stage.play(at, event);
    for (const { table, row, drop } of turn.writes) {
      if (table !== "outbox" || drop || !("message" in row)) continue;
      const way = `${LETTERS[row.from]}>${LETTERS[row.to]}`;
      this.#sent.set(way, [...this.#sent.get(way) ?? [], row.message]);
    }
    return shownTurn(turn);
  }

  /** Happens where its subject is. */
  #said(words: string[]): { place: PartitionRange; event: Event } {
    const known = words.map((word) => word.replace(NAME, (name) => this.#idOf(name)));
    if (words[0] === "share") return this.#proposed(LETTERS.indexOf(words[1] ?? ""));
    const [id = ""] = known[1]?.split("#") ?? [];
    const partition = partitionOfId(id, this.#partitions);
    if (words[0] === "grant") return this.#proposed(partition, id);
    return { place: this.#at(partition), event: parse(known) };
  }

  /** The grant for an invocation, or else what is next about shares. */
  #proposed(partition: number, id?: string): { place: PartitionRange; event: Event } {
    const stage = this.#stages[partition];
    if (!stage) throw new Error(`There is no partition ${partition}`);
    const event = id === undefined ? stage.shareEvent() : stage.grantOf(id);
    return { place: this.#at(partition), event };
  }

  #moved(verb: string, [way = "", range = ""]: string[]): { place: PartitionRange; event: Event } {
    const [from = 0, to = 0] = way.split(">").map((letter) => LETTERS.indexOf(letter));
    const [first = 0, last = first] = range.split("-").map(Number);
    if (verb === "acknowledge") {
      return { place: this.#at(from), event: { type: "acknowledged", to, first, last } };
    }
    const messages = (this.#sent.get(way) ?? []).slice(first - 1, last);
    return { place: this.#at(to), event: { type: "delivered", from, first, messages, reply: 1 } };
  }

  #at(partition: number): PartitionRange {
    return { partition, partitions: this.#partitions };
  }

  #idOf(name: string): string {
    const known = this.#ids.get(name);
    if (known) return known;
    const partition = LETTERS.indexOf(name[0] ?? "");
    if (partition < 0) throw new Error(`Nobody was met who is "${name}"`);
    const bytes = new Uint8Array(INVOCATION_ID_BYTES);
    // The middle of the partition's range: see `model/ring.ts`.
    bytes[7] = Math.floor(256 * (partition + 0.5) / this.#partitions);
    bytes[INVOCATION_ID_BYTES - 1] = Number(name.slice(1));
    return this.#call(name, printInvocationId(bytes));
  }

  #nameOf(id: string): string {
    const known = this.#names.get(id);
    if (known) return known;
    const name = `x${++this.#met}`;
    this.#call(name, id);
    return name;
  }

  #call(name: string, id: string): string {
    this.#ids.set(name, id);
    this.#names.set(id, name);
    return id;
  }
}
