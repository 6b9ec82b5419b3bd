import { readInt31, readInt32 } from "./frame_reader.ts";
import { SHOWN_TEXT_MAX } from "./limits.ts";
import { printCode } from "./protocol.ts";

/** The least payload of a GOAWAY frame: stream and code. */
export const GOAWAY_BYTES = 8;

/** The endpoint takes no streams any more. */
export interface Goaway {
  /** The last stream that the endpoint may have taken. */
  readonly last: number;
  readonly code: number;
  /** The code, and the reason in the endpoint's own words. */
  readonly message: string;
}

/** Reads the payload of a GOAWAY frame, which has `GOAWAY_BYTES` at least. */
export function readGoaway(bytes: Uint8Array, at: number, end: number): Goaway {
  const code = readInt32(bytes, at + 4);
  const debug = bytes.subarray(
    at + GOAWAY_BYTES,
    Math.min(end, at + GOAWAY_BYTES + SHOWN_TEXT_MAX),
  );
  const text = new TextDecoder().decode(debug).replaceAll(/[^\x20-\x7e]/g, "?");
  const reason = `the endpoint closes the connection with code ${printCode(code)}`;
  const message = text === "" ? reason : `${reason}: ${text}`;
  return { last: readInt31(bytes, at), code, message };
}
