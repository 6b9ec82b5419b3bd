import { type Given, textOf } from "./about.ts";
import { usageFailure } from "./failure.ts";
import { paint, print, visible } from "./output.ts";
import { type Answer, ServerClient } from "./server_client.ts";

/** What is read of the answer to a registration, or of a list of services. */
export interface ServiceRecord {
  readonly name: string;
  readonly ty: string;
  readonly handlers: readonly HandlerRecord[];
}

export interface HandlerRecord {
  readonly name: string;
  readonly input_description?: string;
  readonly input_json_schema?: unknown;
  readonly public?: boolean;
}

export interface Registered {
  readonly id: string;
  readonly services: readonly ServiceRecord[];
}

/** `perdure register`: an endpoint that listens. Rejects with `CommandFailure`. */
export async function register(given: Given, isJson: boolean): Promise<void> {
  const [uri = ""] = given.arguments;
  if (!URL.canParse(uri)) {
    throw usageFailure(`Cannot register "${visible(uri)}": it is not an address`, "register");
  }
  const body = {
    uri,
    force: given.flags["force"] === true,
    breaking: given.flags["breaking"] === true,
    dry_run: given.flags["dry-run"] === true,
    use_http_11: given.flags["http1"] === true,
  };
  const { json } = await new ServerClient(given).ask("admin", "/deployments", {
    method: "POST",
    body: JSON.stringify(body),
  });
  const registered = json as Registered;
  print(isJson, registered, () => textFor(registered, body.dry_run));
}

function textFor({ id, services }: Registered, isDryRun: boolean): string {
  const head = isDryRun ? "It can be registered:" : `Registered as ${id}:`;
  const lines = services.map(({ name, ty, handlers }) =>
    `  ${paint("bold", visible(name))} (${ty}): ${
      handlers.map((one) => visible(one.name)).join(", ")
    }`
  );
  return [head, ...lines].join("\n");
}

/** Whether an answer of the admin API says that a service is not known. */
export function isMissing({ status }: Answer): boolean {
  return status === 404;
}

/** The text of a flag, as a whole number from 1 to `max`. Throws `CommandFailure`. */
export function countOf(given: Given, name: string, max: number): number | undefined {
  const text = textOf(given, name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
  throw usageFailure(`Cannot read --${name}: "${visible(text)}" is not a number from 1 to ${max}`);
}
