import { fromBinary } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
import { printMessageType } from "../../src/wire/message_type.ts";
import { type Start, StartSchema } from "../../src/wire/gen/service_pb.ts";

/** A frame that crossed the wire. `in`: server to endpoint. */
export interface Frame {
  readonly way: "in" | "out";
  /** `RunCompletion`, as the protocol names it without number. */
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly body: Uint8Array;
  /** When, by the clock of this machine, in ms. */
  readonly at: number;
}

/** One request of the server to the endpoint, as far as it got. */
export interface Attempt {
  readonly path: string;
  readonly invocation: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Both ways, in the order seen. */
  readonly frames: readonly Frame[];
  readonly openedAt: number;
  /** The server said that no more comes. */
  readonly inEndedAt: number | undefined;
  /** The endpoint said so. */
  readonly outEndedAt: number | undefined;
  /** Request and response are over, in order or not. */
  readonly closedAt: number | undefined;
}

/** A line of the file `wire`, as tap.mjs writes it. */
interface Line {
  readonly number: number;
  readonly at: number;
  readonly what: "open" | "in" | "inEnd" | "out" | "outEnd" | "closed";
  readonly path: string;
  readonly invocation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: number;
  readonly flags: number;
  readonly body: string;
}

/** Reads the file `wire` of an endpoint: its requests in the order they came, discovery included. */
export function readWire(text: string): Attempt[] {
  const requests = new Map<string, Line[]>();
  // A new process of the endpoint counts from 1 again: an `open` begins a new request.
  let generation = 0;
  for (const line of text.split("\n").slice(0, -1).map((one) => JSON.parse(one) as Line)) {
    if (line.what === "open" && line.number === 1) generation++;
    const id = `${generation}-${line.number}`;
    const lines = requests.get(id);
    if (lines) lines.push(line);
    else requests.set(id, [line]);
  }
  return [...requests.values()].map(attemptOf);
}

function attemptOf(lines: readonly Line[]): Attempt {
  const [open] = lines;
  const at = (what: Line["what"]) => lines.find((line) => line.what === what)?.at;
  return {
    path: open?.path ?? "",
    invocation: open?.invocation ?? "",
    headers: open?.headers ?? {},
    openedAt: open?.at ?? 0,
    inEndedAt: at("inEnd"),
    outEndedAt: at("outEnd"),
    closedAt: at("closed"),
    frames: lines.flatMap((line) =>
      line.what === "in" || line.what === "out"
        ? [{
          way: line.what,
          name: printMessageType(line.type).replace(/ .*/, ""),
          type: line.type,
          flags: line.flags,
          body: Uint8Array.from(atob(line.body), (char) => char.charCodeAt(0)),
          at: line.at,
        }]
        : []
    ),
  };
}

/** The names of an attempt's frames that went one way, in order. */
export function namesOf(attempt: Attempt | undefined, way: Frame["way"]): string[] {
  return attempt?.frames.filter((frame) => frame.way === way).map(({ name }) => name) ?? [];
}

/** The first frame of this name. Throws when there is none. */
export function frameOf(attempt: Attempt | undefined, name: string): Frame {
  const frame = attempt?.frames.find((one) => one.name === name);
  if (!frame) throw new Error(`No ${name} in ${attempt?.frames.map((one) => one.name)}`);
  return frame;
}

/** All decoded messages of this name in an attempt. */
export function decoded<T extends Message>(
  attempt: Attempt | undefined,
  name: string,
  schema: GenMessage<T>,
): T[] {
  return (attempt?.frames ?? []).filter((frame) => frame.name === name)
    .map((frame) => fromBinary(schema, frame.body));
}

/** How an attempt was started. Throws when it has no `Start`. */
export function startOf(attempt: Attempt | undefined): Start {
  return fromBinary(StartSchema, frameOf(attempt, "Start").body);
}

/** Whether an attempt ended with a suspension that what it stored itself does not end. */
export function isSuspended(attempt: Attempt): boolean {
  const sent = namesOf(attempt, "out"), heard = namesOf(attempt, "in");
  const proposals = sent.filter((name) => name === "ProposeRunCompletion");
  const answers = heard.filter((name) => name.startsWith("RunCompl") || name.endsWith("tionAck"));
  return sent.at(-1) === "Suspension" && answers.length >= proposals.length;
}

/** A JSON value out of the bytes of a message. */
export function jsonOf(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}
