const encoder = new TextEncoder(), decoder = new TextDecoder();

/** What the bytes of a simulated command say. */
export interface Spoken {
  /** The command and everything it depends on: must be the same whenever it is replayed. */
  readonly is: string;
  /** What may differ from attempt to attempt; the recorded one counts. */
  readonly x?: string | number | null;
  readonly completion?: number;
  /** Of calls: the completion that tells the callee's id. */
  readonly invocationId?: number;
  /** Of state and promise commands. */
  readonly key?: string;
  readonly value?: string;
  /** Of signals and of those that ask for a result: whom they are about. */
  readonly target?: string;
}

const TEXT = 1, INVOCATION_ID = 10, RESULT = 11;
const VARINT = 0, LENGTH = 2;

/**
 * A command, with its completion ids where the engine looks for them
 * (docs/spec/service-protocol.md#commands).
 */
export function commandBytes(spoken: Spoken): Uint8Array {
  const text = toBytes(spoken), head: number[] = [];
  const varint = (value: number) => {
    for (; value > 0x7f; value = Math.floor(value / 128)) head.push(value % 128 | 0x80);
    head.push(value);
  };
  const number = (field: number, value: number | undefined) => {
    if (value === undefined) return;
    varint(field * 8 + VARINT);
    varint(value);
  };
  number(INVOCATION_ID, spoken.invocationId);
  number(RESULT, spoken.completion);
  varint(TEXT * 8 + LENGTH);
  varint(text.length);
  const bytes = new Uint8Array(head.length + text.length);
  bytes.set(head);
  bytes.set(text, head.length);
  return bytes;
}

/** What `commandBytes` said: the text comes last, and begins like every object with a text. */
export function spokenOf(bytes: Uint8Array): Spoken {
  let at = 0;
  while (bytes[at] !== BRACE || bytes[at + 1] !== QUOTE) at++;
  return fromBytes(bytes.subarray(at));
}

const BRACE = 0x7b, QUOTE = 0x22;

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
