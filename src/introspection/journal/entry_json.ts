import type { Entry, NotificationId, NotificationResult } from "../../model/journal.ts";
import type { Callees } from "./call_json.ts";
import { commandJson } from "./command_json.ts";
import { entryName } from "./entry_name.ts";
import { bytesJson, failureJson, headersJson, type Json } from "./parts.ts";

type Notification = Extract<Entry, { kind: "notification" }>;

/** An entry for people: its own name, and as JSON (docs/spec/queries.md#journal-entries). */
export interface ReadableEntry {
  /** Null: it is a notification, which has none. */
  readonly name: string | null;
  readonly json: string | null;
}

/**
 * `lite`: without payloads and headers. An entry that cannot be read, since it came from a service of
 * another age, has no JSON; it never throws.
 */
export function readableEntry(entry: Entry, lite: boolean, callees: Callees): ReadableEntry {
  switch (entry.kind) {
    case "input": {
      const fields = lite ? {} : {
        headers: headersJson(entry.headers),
        payload: bytesJson(entry.value),
        name: "",
      };
      return { name: "", json: print({ Command: { Input: fields } }) };
    }
    case "command":
      return readableCommand(entry, lite, callees);
    case "notification": {
      const json = lite ? liteNotification(entry) : fullNotification(entry);
      return { name: null, json: print({ Notification: json }) };
    }
  }
}

function readableCommand(
  entry: Extract<Entry, { kind: "command" }>,
  lite: boolean,
  callees: Callees,
): ReadableEntry {
  try {
    const command = commandJson(entry, lite, callees);
    if (!command) return { name: null, json: null };
    const { fields, name } = command;
    // A short form leaves out a name that is none.
    const all = lite && name === "" ? fields : { ...fields, name };
    return { name, json: print({ Command: { [entryName(entry.type) ?? ""]: all } }) };
  } catch {
    return { name: null, json: null };
  }
}

/** The name of an entry and nothing else. */
export function nameOfEntry(entry: Entry, callees: Callees): string | null {
  return readableEntry(entry, true, callees).name;
}

function liteNotification({ type, id, result }: Notification): Json {
  const name = entryName(type) ?? "";
  return {
    ty: id.kind === "completion" ? { Completion: name } : name,
    id: liteId(id),
    result: RESULTS[result.kind],
  };
}

const RESULTS: Readonly<Record<NotificationResult["kind"], string>> = {
  void: "Void",
  value: "Success",
  failure: "Failure",
  invocationId: "InvocationId",
  stateKeys: "StateKeys",
};

function liteId(id: NotificationId): Json {
  switch (id.kind) {
    case "completion":
      return { CompletionId: id.id };
    case "signal":
      return { SignalIndex: id.index };
    case "named":
      return { SignalName: id.name };
  }
}

function fullNotification({ type, id, result }: Notification): Json {
  switch (id.kind) {
    case "completion": {
      const fields = { completion_id: id.id, ...resultFields(type, result) };
      return { Completion: { [entryName(type) ?? ""]: fields } };
    }
    case "signal":
      return { Signal: { id: { Index: id.index }, ...resultFields(type, result) } };
    case "named":
      return { Signal: { id: { Name: id.name }, ...resultFields(type, result) } };
  }
}

/** A sleep has no result but that it is over. */
function resultFields(type: number, result: NotificationResult): { readonly [name: string]: Json } {
  switch (result.kind) {
    case "void":
      return entryName(type) === "Sleep" ? {} : { result: "Void" };
    case "value":
      return { result: { Success: bytesJson(result.value) } };
    case "failure":
      return { result: { Failure: failureJson(result.failure) } };
    case "invocationId":
      return { invocation_id: result.id };
    case "stateKeys":
      return { state_keys: result.keys };
  }
}

function print(json: Json): string {
  return JSON.stringify(json);
}
