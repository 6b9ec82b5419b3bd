import { FRAME_BYTES_MIN } from "./protocol.ts";

/** Limits of our side of a connection. What the endpoint may do is announced by SETTINGS. */

/** Bytes that an endpoint may send on one stream before they are read; as the reference has it. */
export const STREAM_WINDOW_BYTES = 2 * 1024 * 1024;
/** As above, on all streams of a connection together. Read by the connection at once. */
export const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Payload of a frame that is sent. Every endpoint takes so much, and streams take turns by frames. */
export const SENT_FRAME_BYTES_MAX = FRAME_BYTES_MIN;
/** Payload of a frame that is received: the default. A larger one ends the connection. */
export const RECEIVED_FRAME_BYTES_MAX = FRAME_BYTES_MIN;
/**
 * Headers of one request, which may contain a long object key. An exchange with more fails, and
 * nothing of it is sent.
 */
export const SENT_HEADERS_BYTES_MAX = 1024 * 1024;
/**
 * Headers of one response, as RFC 9113 counts them: 32 bytes for each in addition. Beyond it the
 * stream fails.
 */
export const RECEIVED_HEADERS_BYTES_MAX = 64 * 1024;
/** Frames of one header block. More of them end the connection. */
export const CONTINUATIONS_MAX = 100;
/** Table of headers that the endpoint may fill: the default. */
export const HEADER_TABLE_BYTES = 4096;
/** Bytes gathered before the transport has taken any: beyond it, streams wait. */
export const OUTPUT_BYTES_MAX = 256 * 1024;
/**
 * Frames that we owe the endpoint (acknowledgements, resets) and that it has not read. An endpoint
 * that asks for more without reading is cut off.
 */
export const OWED_FRAMES_MAX = 1000;
/** Payloads of this size and more are sent as they are; smaller ones are copied into one buffer. */
export const COPIED_BYTES_MAX = 2048;
/** Bytes of the buffer in which frames are gathered. */
export const SLAB_BYTES = 64 * 1024;
/** Characters of the endpoint's own text in a message of ours. */
export const SHOWN_TEXT_MAX = 128;
/** Header names and paths of requests whose bytes are cached; beyond it the cache is cleared. */
export const ENCODED_MAX = 10_000;
/** Header blocks of responses that are cached; beyond it the cache is cleared. */
export const DECODED_MAX = 64;
