import { Failure } from "../errors.ts";
import type { OnLeave, PartitionClient } from "../ports.ts";

type PartitionMethod = (
  client: PartitionClient,
  args: readonly never[],
  onLeave: OnLeave,
) => Promise<unknown>;

/** The methods of a partition that others may call. Those that wait long can be canceled. */
const METHODS: { readonly [K in keyof PartitionClient]: PartitionMethod } = {
  send: (client, [request = never()]) => client.send(request),
  call: (client, [request = never()], onLeave) => client.call(request, onLeave),
  attach: (client, [id = never()], onLeave) => client.attach(id, onLeave),
  output: (client, [id = never()]) => client.output(id),
  signal: (client, [signal = never()]) => client.signal(signal),
  editState: (client, [object = never(), edit = never()]) => client.editState(object, edit),
  completePromise: (client, [promise = never(), result = never()]) =>
    client.completePromise(promise, result),
  operate: (client, [id = never(), operation = never()]) => client.operate(id, operation),
  deliver: (client, [batch = never()]) => client.deliver(batch),
  ingest: (client, [part = never()]) => client.ingest(part),
  letters: (client, [request = never()]) => client.letters(request),
  changes: (client, [cursor], onLeave) => client.changes(cursor, onLeave),
};

/** Whether a partition has a method of this name. */
export function isPartitionMethod(name: string): name is keyof PartitionClient {
  return Object.hasOwn(METHODS, name);
}

/**
 * Calls a method with the arguments of a message, which `AskingClient` has sent. Rejects as the method
 * does, and with `Failure` 400 when an argument is missing.
 */
export async function askPartition(
  client: PartitionClient,
  method: keyof PartitionClient,
  { args, onLeave }: { readonly args: readonly unknown[]; readonly onLeave: OnLeave },
): Promise<unknown> {
  return await METHODS[method](client, args as readonly never[], onLeave);
}

function never(): never {
  throw Failure.plain(400, "Cannot read a message of another process: an argument is missing");
}
