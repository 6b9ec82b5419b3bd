const encoder = new TextEncoder(), decoder = new TextDecoder();

/** What the bytes of a simulated command say. */
export interface Spoken {
  /** The command and everything it depends on: must be the same whenever it is replayed. */
  readonly is: string;
  /** What may differ from attempt to attempt; the recorded one counts. */
  readonly x?: string | number | null;
  readonly completion?: number;
  /** Of state commands. */
  readonly key?: string;
  readonly value?: string;
}

export function toBytes(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

export function fromBytes<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(bytes));
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}
