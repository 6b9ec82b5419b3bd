import type { Operation } from "../engine/event.ts";
import type { Signal } from "../model/command.ts";
import { partitionOfId, partitionOfObject } from "../model/ring.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type { ObjectName } from "../model/target.ts";
import type {
  Accepted,
  Attached,
  Completed,
  InvocationRequest,
  Invocations,
  OnLeave,
  Operated,
  PartitionClient,
} from "../ports.ts";
import type { Directory } from "./directory.ts";

/**
 * All partitions as one: sends each request to the partition of its id or object
 * (docs/spec/storage-layout.md#partitions).
 */
export class Router implements Invocations {
  readonly #directory: Directory;

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  async send(request: InvocationRequest): Promise<Accepted> {
    return await this.#of(request.id).send(request);
  }

  async call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed> {
    return await this.#of(request.id).call(request, onLeave);
  }

  async attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined> {
    return await this.#of(id).attach(id, onLeave);
  }

  async output(id: string): Promise<Attached | "unknown" | "notReady"> {
    return await this.#of(id).output(id);
  }

  async signal(signal: Signal): Promise<void> {
    await this.#of(signal.target).signal(signal);
  }

  async editState(object: ObjectName, edit: StateEdit): Promise<void> {
    const place = partitionOfObject(object, this.#directory.partitions);
    await this.#directory.partitionClient(place).editState(object, edit);
  }

  async operate(id: string, operation: Operation): Promise<Operated> {
    return await this.#of(id).operate(id, operation);
  }

  /** `id`: a well-formed invocation id. */
  #of(id: string): PartitionClient {
    const { partitions } = this.#directory;
    return this.#directory.partitionClient(partitionOfId(id, partitions));
  }
}
