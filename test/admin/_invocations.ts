import type { Operation } from "../../src/engine/event.ts";
import type { Result } from "../../src/model/journal.ts";
import type { PromiseName, PromiseTaken } from "../../src/model/promise.ts";
import type { StateEdit } from "../../src/model/state_edit.ts";
import type { ObjectName } from "../../src/model/target.ts";
import type { Invocations, Operated } from "../../src/ports.ts";

type AdminInvocations = Pick<Invocations, "operate" | "editState" | "completePromise">;

/** Partitions that remember what they were asked, and answer as configured. */
export class FakeInvocations implements AdminInvocations {
  readonly edits: (ObjectName & { readonly edit: StateEdit })[] = [];
  /** Why the next edit is not taken. */
  editFault: Error | undefined;
  readonly asked: { readonly id: string; readonly operation: Operation }[] = [];
  /** How an invocation takes an operation: `done` unless set otherwise. */
  readonly answers = new Map<string, Operated["status"] | Error>();

  readonly promises: (PromiseName & { readonly result: Result })[] = [];
  /** What becomes of a promise. */
  promiseTaken: PromiseTaken = "done";

  async completePromise(promise: PromiseName, result: Result): Promise<PromiseTaken> {
    await Promise.resolve();
    this.promises.push({ ...promise, result });
    return this.promiseTaken;
  }

  async editState(object: ObjectName, edit: StateEdit): Promise<void> {
    await Promise.resolve();
    if (this.editFault) throw this.editFault;
    this.edits.push({ ...object, edit });
  }

  async operate(id: string, operation: Operation): Promise<Operated> {
    this.asked.push({ id, operation });
    await Promise.resolve();
    const status = this.answers.get(id) ?? "done";
    if (status === "otherProtocol") {
      const target = { service: "Obj", handler: "h", key: "k", type: "virtual_object" } as const;
      const pin = { deployment: "dp_1", protocol: 4 };
      return { id, status, target: { ...target, access: "exclusive" }, pin };
    }
    if (status instanceof Error) throw status;
    return { id: operation.kind === "restart" ? operation.newId : id, status };
  }
}
