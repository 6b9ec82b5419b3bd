import { entryType } from "../model/journal.ts";

/**
 * Control messages, which are no part of a journal (docs/spec/service-protocol.md#message-types).
 */
export const controlType = {
  start: 0x0000,
  suspension: 0x0001,
  error: 0x0002,
  end: 0x0003,
  commandAck: 0x0004,
  proposeRunCompletion: 0x0005,
  awaitingOn: 0x0006,
  proposeRunCompletionAck: 0x0007,
} as const;

/** Names of the message types as the protocol spells them. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [controlType.start, "Start"],
  [controlType.suspension, "Suspension"],
  [controlType.error, "Error"],
  [controlType.end, "End"],
  [controlType.commandAck, "CommandAck"],
  [controlType.proposeRunCompletion, "ProposeRunCompletion"],
  [controlType.awaitingOn, "AwaitingOn"],
  [controlType.proposeRunCompletionAck, "ProposeRunCompletionAck"],
  [entryType.input, "InputCommand"],
  [entryType.output, "OutputCommand"],
  [entryType.getLazyState, "GetLazyStateCommand"],
  [entryType.setState, "SetStateCommand"],
  [entryType.clearState, "ClearStateCommand"],
  [entryType.clearAllState, "ClearAllStateCommand"],
  [entryType.getLazyStateKeys, "GetLazyStateKeysCommand"],
  [entryType.getEagerState, "GetEagerStateCommand"],
  [entryType.getEagerStateKeys, "GetEagerStateKeysCommand"],
  [entryType.getPromise, "GetPromiseCommand"],
  [entryType.peekPromise, "PeekPromiseCommand"],
  [entryType.completePromise, "CompletePromiseCommand"],
  [entryType.sleep, "SleepCommand"],
  [entryType.call, "CallCommand"],
  [entryType.oneWayCall, "OneWayCallCommand"],
  [entryType.sendSignal, "SendSignalCommand"],
  [entryType.run, "RunCommand"],
  [entryType.attach, "AttachInvocationCommand"],
  [entryType.getOutput, "GetInvocationOutputCommand"],
  [entryType.completeAwakeable, "CompleteAwakeableCommand"],
  [entryType.getLazyStateCompletion, "GetLazyStateCompletion"],
  [entryType.getLazyStateKeysCompletion, "GetLazyStateKeysCompletion"],
  [entryType.getPromiseCompletion, "GetPromiseCompletion"],
  [entryType.peekPromiseCompletion, "PeekPromiseCompletion"],
  [entryType.completePromiseCompletion, "CompletePromiseCompletion"],
  [entryType.sleepCompletion, "SleepCompletion"],
  [entryType.callCompletion, "CallCompletion"],
  [entryType.callInvocationIdCompletion, "CallInvocationIdCompletion"],
  [entryType.runCompletion, "RunCompletion"],
  [entryType.attachCompletion, "AttachInvocationCompletion"],
  [entryType.getOutputCompletion, "GetInvocationOutputCompletion"],
  [entryType.signal, "SignalNotification"],
]);

/** Whether this type has a name, that is: is part of the protocol. */
export function isMessageType(type: number): boolean {
  return NAMES.has(type);
}

/** Whether a message of an SDK is stored: commands and results of runs are, other control messages not. */
export function isStored(type: number): boolean {
  return type > controlType.proposeRunCompletionAck || type === controlType.proposeRunCompletion;
}

/** `SetStateCommand (0x0403)`, or `message (0x0050)` for a number the protocol does not know. */
export function printMessageType(type: number): string {
  const hex = type.toString(16).padStart(4, "0");
  return `${NAMES.get(type) ?? "message"} (0x${hex})`;
}
