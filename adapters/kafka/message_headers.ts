import type { IHeaders, KafkaMessage } from "kafkajs";

/** A header of a record, as it was read. */
export type MessageHeader = readonly [name: string, value: Uint8Array | null];

const NONE: readonly MessageHeader[] = [];
const encoder = new TextEncoder();

/**
 * The headers of a record that kafkajs has read, those of one name together. It collects them in an object
 * that inherits: the list of one named `constructor`, or `__proto__`, begins with what was inherited, which
 * is no value and is left out.
 */
export function headersOf({ headers = {} }: Pick<KafkaMessage, "headers">): typeof NONE {
  const names = Object.keys(headers);
  if (names.length === 0) return NONE;
  return names.flatMap((name) =>
    [headers[name] ?? null].flat().filter(isValue).map((value) => [name, bytesOf(value)] as const)
  );
}

/** Headers as kafkajs writes them, whatever their names. */
export function messageHeaders(pairs: readonly MessageHeader[]): IHeaders {
  const byName: Record<string, Buffer[]> = Object.create(null);
  // kafkajs writes null as it is read, though its types do not say so.
  for (const [name, value] of pairs) (byName[name] ??= []).push(value as Buffer);
  return byName;
}

function isValue(value: unknown): value is Uint8Array | string | null {
  return value === null || typeof value === "string" || value instanceof Uint8Array;
}

function bytesOf(value: Uint8Array | string | null): Uint8Array | null {
  return typeof value === "string" ? encoder.encode(value) : value;
}
