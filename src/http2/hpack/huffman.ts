/**
 * Bits of the code of each byte, and of the end of a string, which is symbol 256 (RFC 7541, appendix
 * B). The codes follow from their lengths: shorter ones first, equal ones by symbol.
 */
// deno-fmt-ignore
const LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
  5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];
const END_OF_STRING = 256;
/** Padding after the last code has fewer bits than a byte, all of them 1. */
const PADDING_BITS_MAX = 7;

/** A node of the tree of codes: what follows a 0 and a 1. Leaves are symbols, as `-1 - symbol`. */
type Branch = [number, number];

/** What four bits do in a state: the next state, and in higher bits the byte that they complete. */
const EMITS = 1 << 16;
const FAILS = 1 << 17;

const tree = buildTree();
const steps = buildSteps();
const mayEnd = statesOfPadding();

/**
 * Decodes the bytes from `at` to `end`, each character of the result being one byte. Undefined: they
 * are no Huffman code, contain its end of string, or have a wrong padding (RFC 7541, section 5.2).
 */
export function decodeHuffman(bytes: Uint8Array, at: number, end: number): string | undefined {
  let state = 0, text = "";
  for (let i = at; i < end; i++) {
    const byte = bytes[i]!;
    const high = steps[state << 4 | byte >>> 4]!;
    if (high & EMITS) text += String.fromCharCode(high >>> 8 & 0xff);
    const low = steps[(high & 0xff) << 4 | byte & 0xf]!;
    if (low & EMITS) text += String.fromCharCode(low >>> 8 & 0xff);
    if ((high | low) & FAILS) return undefined;
    state = low & 0xff;
  }
  return mayEnd.has(state) ? text : undefined;
}

function buildTree(): Branch[] {
  const symbols = LENGTHS.map((_, symbol) => symbol)
    .sort((a, b) => LENGTHS[a]! - LENGTHS[b]! || a - b);
  const branches: Branch[] = [[0, 0]];
  let code = 0, length = 0;
  for (const symbol of symbols) {
    code <<= LENGTHS[symbol]! - length;
    length = LENGTHS[symbol]!;
    let node = 0;
    for (let bit = length - 1; bit > 0; bit--) {
      const branch = branches[node]!, side = code >>> bit & 1 ? 1 : 0;
      if (branch[side] === 0) branch[side] = branches.push([0, 0]) - 1;
      node = branch[side];
    }
    branches[node]![code & 1 ? 1 : 0] = -1 - symbol;
    code++;
  }
  return branches;
}

/** No code is shorter than five bits, so that four bits complete one symbol at most. */
function buildSteps(): Uint32Array {
  const table = new Uint32Array(tree.length << 4);
  for (let state = 0; state < tree.length; state++) {
    for (let bits = 0; bits < 16; bits++) table[state << 4 | bits] = stepOf(state, bits);
  }
  return table;
}

function stepOf(state: number, bits: number): number {
  let node = state, step = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = tree[node]![bits >>> bit & 1 ? 1 : 0];
    if (next >= 0) {
      node = next;
      continue;
    }
    const symbol = -1 - next;
    step |= symbol === END_OF_STRING ? FAILS : EMITS | symbol << 8;
    node = 0;
  }
  return step | node;
}

function statesOfPadding(): ReadonlySet<number> {
  const states = new Set<number>();
  for (let node = 0, bits = 0; bits <= PADDING_BITS_MAX; bits++) {
    states.add(node);
    node = tree[node]![1];
  }
  return states;
}
