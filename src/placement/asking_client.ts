import type { Operation, RecordPart } from "../engine/event.ts";
import type { Changes } from "../model/changes.ts";
import type { Signal } from "../model/command.ts";
import type { Result } from "../model/journal.ts";
import type { OwedLetter } from "../model/kafka.ts";
import type { PromiseName, PromiseTaken } from "../model/promise.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type { ObjectName } from "../model/target.ts";
import type {
  Accepted,
  Attached,
  Completed,
  InvocationRequest,
  LettersRequest,
  OnLeave,
  Operated,
  OutboxBatch,
  PartitionClient,
  PartTaken,
} from "../ports.ts";

/**
 * The client of a partition elsewhere: each method is a message with its name and arguments, which
 * `partition_methods.ts` carries out there.
 */
export abstract class AskingClient implements PartitionClient {
  /** Sends a message. `onLeave`: when the caller leaves, nobody waits for the answer any more. */
  protected abstract ask<T>(
    method: keyof PartitionClient,
    args: readonly unknown[],
    onLeave?: OnLeave,
  ): Promise<T>;

  send(request: InvocationRequest): Promise<Accepted> {
    return this.ask("send", [request]);
  }

  call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    return this.ask("call", [request], onLeave);
  }

  attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    return this.ask("attach", [id], onLeave);
  }

  output(id: string): Promise<Attached | "unknown" | "notReady"> {
    return this.ask("output", [id]);
  }

  signal(signal: Signal): Promise<void> {
    return this.ask("signal", [signal]);
  }

  editState(object: ObjectName, edit: StateEdit): Promise<void> {
    return this.ask("editState", [object, edit]);
  }

  completePromise(promise: PromiseName, result: Result): Promise<PromiseTaken> {
    return this.ask("completePromise", [promise, result]);
  }

  operate(id: string, operation: Operation): Promise<Operated> {
    return this.ask("operate", [id, operation]);
  }

  deliver(batch: OutboxBatch): Promise<number> {
    return this.ask("deliver", [batch]);
  }

  ingest(part: RecordPart): Promise<PartTaken> {
    return this.ask("ingest", [part]);
  }

  letters(request: LettersRequest): Promise<readonly OwedLetter[]> {
    return this.ask("letters", [request]);
  }

  changes(cursor: string | undefined, onLeave?: OnLeave): Promise<Changes> {
    return this.ask("changes", [cursor], onLeave);
  }
}
