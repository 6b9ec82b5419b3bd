import type { Command } from "../model/command.ts";
import { type Entry, entryType } from "../model/journal.ts";
import { encodeCommandAck, encodeRunAck } from "../wire/journal_codec.ts";

/**
 * What one attempt is told to be stored, because it asked (docs/spec/service-protocol.md#frames,
 * docs/spec/service-protocol.md#runs).
 */
export class Acks {
  /** Of the next command; the input has index 0. */
  #index: number;
  /** Commands whose sender wants to hear of them, of the frames at hand. */
  #commands: number[] = [];
  /** Runs of this attempt whose result the SDK need not be told again. */
  #runs: Set<number> | undefined;

  /** `commands`: how many are in the replay, the input included. */
  constructor(commands: number) {
    this.#index = commands;
  }

  /** A command was heard. They come in order. `wantsAck`: its frame is flagged. */
  commandReceived(command: Command, wantsAck: boolean): void {
    if (command.kind !== "runCompletion") {
      if (wantsAck) this.#commands.push(this.#index);
      this.#index++;
    } else if (command.wantsAck) {
      this.#runs ??= new Set();
      this.#runs.add(command.completion);
    }
  }

  /** What to say once all that was heard since the last time is stored. Undefined: nothing. */
  take(): Uint8Array[] | undefined {
    if (this.#commands.length === 0) return undefined;
    return this.#commands.splice(0).map(encodeCommandAck);
  }

  /** What stands for the notification of a run's result. Undefined: it is to be told in full. */
  of(entry: Entry): Uint8Array | undefined {
    if (!this.#runs || entry.kind !== "notification") return undefined;
    if (entry.type !== entryType.runCompletion || entry.id.kind !== "completion") return undefined;
    return this.#runs.delete(entry.id.id) ? encodeRunAck(entry.id.id) : undefined;
  }
}
