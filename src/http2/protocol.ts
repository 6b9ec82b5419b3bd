/** Numbers of HTTP/2, by the names that RFC 9113 gives them. */

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** A bit means different things on different frames: `ack` on SETTINGS and PING, `endStream` else. */
export const flag = {
  ack: 0x1,
  endStream: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const errorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  connectError: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const;

const CODE_NAMES = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/** An error code with its name, for messages: `7 (REFUSED_STREAM)`. */
export function printCode(code: number): string {
  const name = CODE_NAMES[code];
  return name === undefined ? String(code) : `${code} (${name})`;
}

/** What a client sends first (RFC 9113, section 3.4). */
export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/** Length u24, type u8, flags u8, stream u32. */
export const FRAME_HEAD_BYTES = 9;
export const SETTING_BYTES = 6;
export const PING_BYTES = 8;

/** The window of a connection and of each stream before any setting (RFC 9113, section 6.9.2). */
export const WINDOW_BYTES_INITIAL = 65_535;
/** The largest window, stream number and window increment. */
export const INT31_MAX = 0x7fff_ffff;
/** The least that `maxFrameSize` can be, and the most. */
export const FRAME_BYTES_MIN = 16_384;
export const FRAME_BYTES_MAX = 16_777_215;
