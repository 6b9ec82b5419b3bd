import { ConnectionError } from "./connection_error.ts";
import { readInt32 } from "./frame_reader.ts";
import { STREAM_WINDOW_BYTES } from "./limits.ts";
import type { Output } from "./output.ts";
import {
  errorCode,
  FRAME_BYTES_MAX,
  FRAME_BYTES_MIN,
  frameType,
  INT31_MAX,
  setting,
  SETTING_BYTES,
} from "./protocol.ts";
import { RECEIVED_HEADERS_BYTES_MAX } from "./limits.ts";

/** What an endpoint may change that concerns us. Absent: not in this frame. */
export interface PeerSettings {
  streamsMax?: number;
  initialWindow?: number;
}

/** Ours: no pushed streams, and limits. What is not in it has its default. */
const OURS: readonly (readonly [number, number])[] = [
  [setting.enablePush, 0],
  [setting.initialWindowSize, STREAM_WINDOW_BYTES],
  [setting.maxHeaderListSize, RECEIVED_HEADERS_BYTES_MAX],
];

export function sendSettings(output: Output): void {
  output.head(OURS.length * SETTING_BYTES, frameType.settings, 0, 0);
  for (const [id, value] of OURS) {
    output.int16(id);
    output.int32(value);
  }
}

/**
 * Reads the payload of a SETTINGS frame (RFC 9113, section 6.5). The size of its table of headers does
 * not concern us, because our requests use none, nor does its largest frame, since we send none beyond
 * the least that it must take. Throws `ConnectionError`.
 */
export function readSettings(bytes: Uint8Array, at: number, end: number): PeerSettings {
  if ((end - at) % SETTING_BYTES !== 0) {
    throw new ConnectionError(errorCode.frameSizeError, `SETTINGS of ${end - at} bytes`);
  }
  const settings: PeerSettings = {};
  for (let i = at; i < end; i += SETTING_BYTES) {
    const value = readInt32(bytes, i + 2);
    switch (bytes[i]! << 8 | bytes[i + 1]!) {
      case setting.enablePush:
        if (value !== 0) throw wrong(errorCode.protocolError, "ENABLE_PUSH", value);
        break;
      case setting.maxConcurrentStreams:
        settings.streamsMax = value;
        break;
      case setting.initialWindowSize:
        if (value > INT31_MAX) {
          throw wrong(errorCode.flowControlError, "INITIAL_WINDOW_SIZE", value);
        }
        settings.initialWindow = value;
        break;
      case setting.maxFrameSize:
        if (value < FRAME_BYTES_MIN || value > FRAME_BYTES_MAX) {
          throw wrong(errorCode.protocolError, "MAX_FRAME_SIZE", value);
        }
        break;
    }
  }
  return settings;
}

function wrong(code: number, name: string, value: number): ConnectionError {
  return new ConnectionError(code, `the setting ${name} with the value ${value}`);
}
