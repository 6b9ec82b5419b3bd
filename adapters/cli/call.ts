import process from "node:process";
import { OWN } from "../../src/names.ts";
import { type Given, textOf } from "./about.ts";
import { usageFailure } from "./failure.ts";
import { print, visible } from "./output.ts";
import { ServerClient } from "./server_client.ts";

/** `perdure call`: prints the result. Rejects with `CommandFailure`, also when the handler failed. */
export async function call(given: Given, isJson: boolean): Promise<void> {
  const { headers, text, json } = await post(given, "call", "");
  const id = headers[`x-${OWN}-id`];
  // No bytes are no value; what is not JSON is a text.
  const result = text === "" ? null : json === undefined ? text : json;
  print(isJson, { id, result }, () => text);
}

/** `perdure send`: prints the id of the invocation. Rejects with `CommandFailure`. */
export async function send(given: Given, isJson: boolean): Promise<void> {
  const delay = textOf(given, "delay");
  const query = delay === undefined ? "" : `?delay=${encodeURIComponent(delay)}`;
  const { json } = await post(given, "send", query);
  const sent = json as { readonly invocationId: string };
  print(isJson, sent, () => sent.invocationId);
}

async function post(given: Given, kind: "call" | "send", query: string) {
  const [target = "", input] = given.arguments;
  const path = `/${OWN}/${kind}/${pathOf(target, kind)}${query}`;
  const body = input === undefined ? undefined : await inputOf(input, kind);
  const key = textOf(given, "idempotency-key");
  const headers = key === undefined ? {} : { "idempotency-key": key };
  return await new ServerClient(given).ask("ingress", path, { method: "POST", body, headers });
}

/**
 * The path of a handler: `Greeter/greet`, or `Ticket/room/7/count`, where all between the service and the
 * handler is the key. Throws `CommandFailure`.
 */
export function pathOf(target: string, command: string): string {
  const parts = target.split("/");
  const [service, ...others] = parts;
  const handler = others.pop();
  if (!service || !handler) {
    const why = `"${visible(target)}" is not a service, an optional key and a handler`;
    throw usageFailure(`Cannot ${command}: ${why}, such as Greeter/greet`, command);
  }
  const key = others.length === 0 ? [] : [others.join("/")];
  return [service, ...key, handler].map(encodeURIComponent).join("/");
}

/** The input, which must be JSON: a text without quotes is a mistake that a handler would notice late. */
async function inputOf(given: string, command: string): Promise<string> {
  const text = given === "-" ? await standardInput() : given;
  try {
    JSON.parse(text);
    return text;
  } catch {
    const why = "it is not JSON; a text needs quotes: '\"Ada\"'";
    throw usageFailure(`Cannot read the input: ${why}`, command);
  }
}

/** Standard input to its end, as UTF-8. */
export async function standardInput(): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Uint8Array);
  return Buffer.concat(pieces).toString("utf8");
}
