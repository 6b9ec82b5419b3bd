/**
 * Fields of a stored command that hold the ids of its completions
 * (docs/spec/service-protocol.md#commands).
 */
const INVOCATION_ID = 10;
const RESULT = 11;

const VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5;

/**
 * The completion ids that a stored command names: of a call two, of most commands one or none. The
 * bytes are a message body that was decoded once, so they are well-formed. This is the only place
 * outside `wire/` that looks into one, because the engine has to know what a copied journal lacks.
 */
export function completionIdsOf(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; at < bytes.length; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8), kind = tag % 8;
    if (kind === VARINT) {
      const value = varint();
      if (field === INVOCATION_ID || field === RESULT) ids.push(value);
    } else if (kind === LENGTH) {
      const size = varint();
      at += size;
    } else if (kind === FIXED64) at += 8;
    else if (kind === FIXED32) at += 4;
    else break;
  }
  return ids;
}
