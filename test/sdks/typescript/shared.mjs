// What the handlers share.

/** What a handler answers that needs more than this version has. */
export const LACKING = "not offered";
const seen = new Map();

/** How many times this was said with this key, so that a handler fails its first attempts only. */
export function times(key) {
  seen.set(key, (seen.get(key) ?? 0) + 1);
  return seen.get(key);
}

/** How a promise ended, as JSON. Cancellation of the handler itself goes on. */
export async function outcome(promise) {
  try {
    return { value: (await promise) ?? null };
  } catch (cause) {
    const { name, code, message, metadata, errors } = cause;
    if (errors) return { name, errors: errors.map((one) => one.message) };
    if (typeof code !== "number") throw cause;
    return { name, code, message, ...(metadata && { metadata }) };
  }
}

/** Of a step, as all versions name it. */
export const RETRY = {
  initialRetryIntervalMillis: 20,
  maxRetryIntervalMillis: 40,
  initialRetryInterval: 20,
  maxRetryInterval: 40,
};

/** Bytes and back; the content type says so. */
export const reversed = {
  contentType: "text/reversed",
  serialize: (text) => new TextEncoder().encode([...text].reverse().join("")),
  deserialize: (bytes) => [...new TextDecoder().decode(bytes)].reverse().join(""),
};

const memories = new Map();
/** What was told first with this key. */
export function memory(key, value) {
  memories.set(key, memories.get(key) ?? value);
  return memories.get(key);
}
