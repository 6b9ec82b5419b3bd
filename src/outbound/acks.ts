import type { Command } from "../model/command.ts";
import { type Entry, entryType } from "../model/journal.ts";
import { encodeCommandAck, encodeRunAck } from "../wire/journal_codec.ts";

/**
 * Acknowledges within one attempt what is stored and what the SDK asked to have acknowledged
 * (docs/spec/service-protocol.md#frames, docs/spec/service-protocol.md#runs).
 */
export class Acks {
  /** Journal index of the next command; the input has index 0. */
  #index: number;
  /** Indexes of the commands that want an acknowledgement, received since the last `take`. */
  #commands: number[] = [];
  /** Runs of this attempt whose result is acknowledged instead of sent back to the SDK. */
  #runs: Set<number> | undefined;

  /** `commands`: the number of commands in the replay, the input included. */
  constructor(commands: number) {
    this.#index = commands;
  }

  /** Counts a received command. Commands arrive in order. `wantsAck`: the flag of its frame. */
  commandReceived(command: Command, wantsAck: boolean): void {
    if (command.kind !== "runCompletion") {
      if (wantsAck) this.#commands.push(this.#index);
      this.#index++;
    } else if (command.wantsAck) {
      this.#runs ??= new Set();
      this.#runs.add(command.completion);
    }
  }

  /**
   * The acknowledgements to write once everything received since the last call is stored.
   * Undefined: none.
   */
  take(): Uint8Array[] | undefined {
    if (this.#commands.length === 0) return undefined;
    return this.#commands.splice(0).map(encodeCommandAck);
  }

  /**
   * The acknowledgement to write instead of the notification of a run's result. Undefined: the
   * notification is written in full.
   */
  of(entry: Entry): Uint8Array | undefined {
    if (!this.#runs || entry.kind !== "notification") return undefined;
    if (entry.type !== entryType.runCompletion || entry.id.kind !== "completion") return undefined;
    return this.#runs.delete(entry.id.id) ? encodeRunAck(entry.id.id) : undefined;
  }
}
