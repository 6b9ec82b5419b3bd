/**
 * The reference's limits (docs/spec/runtimes.md#listeners): more header lines → 431, a longer head
 * → 431.
 */
export const HEADERS_MAX = 100;
export const HEAD_BYTES_MAX = 128 * 1024;
/** A longer request target → 414 (docs/spec/runtimes.md#listeners). */
export const TARGET_CHARS_MAX = 65_534;
