/**
 * XXH3 with 64 bits, seed 0 and the default secret: the hash by which other servers, too, find the
 * partition key of an object (`id.ts`). It is a public format; the tests hold vectors of another
 * implementation.
 *
 * Keys are short, so this is written for few operations, not for throughput: 64 KiB take some
 * milliseconds.
 */
export function xxh3(bytes: Uint8Array): bigint {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  if (length > 240) return long(data, length);
  if (length > 128) return middle(data, length);
  if (length > 16) return short(data, length);
  return tiny(data, length);
}

// The constants, and which bytes of the secret meet which of the input, are those of the format.
const SECRET = new DataView(fromHex(
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e",
));
const P32_1 = 0x9e3779b1n, P32_2 = 0x85ebca77n, P32_3 = 0xc2b2ae3dn;
const P64_1 = 0x9e3779b185ebca87n, P64_2 = 0xc2b2ae3d27d4eb4fn, P64_3 = 0x165667b19e3779f9n;
const P64_4 = 0x85ebca77c2b2ae63n, P64_5 = 0x27d4eb2f165667c5n;
const MIX_1 = 0x165667919e3779f9n, MIX_2 = 0x9fb21c651e98df25n;
const STRIPE_BYTES = 64;
const STRIPES_A_BLOCK = 16;
/** Where the last 64 bytes of the secret begin. */
const SECRET_END = 128;

function tiny(data: DataView, length: number): bigint {
  if (length > 8) {
    const low = word(data, 0) ^ word(SECRET, 24) ^ word(SECRET, 32);
    const high = word(data, length - 8) ^ word(SECRET, 40) ^ word(SECRET, 48);
    return mixed(u64(BigInt(length) + swapped(low) + high + folded(low, high)));
  }
  if (length > 3) {
    const both = (BigInt(data.getUint32(0, true)) << 32n) +
      BigInt(data.getUint32(length - 4, true));
    let hash = both ^ word(SECRET, 8) ^ word(SECRET, 16);
    hash ^= rotated(hash, 49n) ^ rotated(hash, 24n);
    hash = u64(hash * MIX_2);
    hash ^= (hash >> 35n) + BigInt(length);
    hash = u64(hash * MIX_2);
    return hash ^ (hash >> 28n);
  }
  if (length === 0) return spread(word(SECRET, 56) ^ word(SECRET, 64));
  const first = data.getUint8(0), middle = data.getUint8(length >> 1);
  const all = (first << 16 | middle << 24 | data.getUint8(length - 1) | length << 8) >>> 0;
  const flip = (SECRET.getUint32(0, true) ^ SECRET.getUint32(4, true)) >>> 0;
  return spread(BigInt((all ^ flip) >>> 0));
}

/** 17 to 128 bytes: pairs of words from both ends towards the middle. */
function short(data: DataView, length: number): bigint {
  let sum = BigInt(length) * P64_1;
  for (let i = (length - 1) >> 5; i >= 0; i--) {
    sum += pair(data, 16 * i, 32 * i) + pair(data, length - 16 * (i + 1), 32 * i + 16);
  }
  return mixed(u64(sum));
}

/** 129 to 240 bytes. */
function middle(data: DataView, length: number): bigint {
  let sum = BigInt(length) * P64_1;
  for (let i = 0; i < 8; i++) sum += pair(data, 16 * i, 16 * i);
  sum = mixed(u64(sum));
  for (let i = 8; i < length >> 4; i++) sum += pair(data, 16 * i, 16 * (i - 8) + 3);
  return mixed(u64(sum + pair(data, length - 16, 119)));
}

function long(data: DataView, length: number): bigint {
  const lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1];
  const stripes = Math.floor((length - 1) / STRIPE_BYTES);
  for (let i = 0; i < stripes; i++) {
    const place = i % STRIPES_A_BLOCK;
    add(lanes, { data, at: i * STRIPE_BYTES, secretAt: 8 * place });
    if (place === STRIPES_A_BLOCK - 1) scramble(lanes);
  }
  add(lanes, { data, at: length - STRIPE_BYTES, secretAt: SECRET_END - 7 });
  let sum = BigInt(length) * P64_1;
  for (let i = 0; i < 8; i += 2) {
    sum += folded(lanes[i]! ^ word(SECRET, 11 + 8 * i), lanes[i + 1]! ^ word(SECRET, 19 + 8 * i));
  }
  return mixed(u64(sum));
}

function add(
  lanes: bigint[],
  { data, at, secretAt }: {
    readonly data: DataView;
    readonly at: number;
    readonly secretAt: number;
  },
): void {
  for (let i = 0; i < 8; i++) {
    const value = word(data, at + 8 * i);
    const key = value ^ word(SECRET, secretAt + 8 * i);
    lanes[i ^ 1] = u64(lanes[i ^ 1]! + value);
    lanes[i] = u64(lanes[i]! + (key & 0xffffffffn) * (key >> 32n));
  }
}

function scramble(lanes: bigint[]): void {
  for (const [i, lane] of lanes.entries()) {
    lanes[i] = u64((lane ^ (lane >> 47n) ^ word(SECRET, SECRET_END + 8 * i)) * P32_1);
  }
}

function pair(data: DataView, at: number, secretAt: number): bigint {
  return folded(
    word(data, at) ^ word(SECRET, secretAt),
    word(data, at + 8) ^ word(SECRET, secretAt + 8),
  );
}

function folded(a: bigint, b: bigint): bigint {
  const product = a * b;
  return u64(product) ^ (product >> 64n);
}

function mixed(value: bigint): bigint {
  const hash = u64((value ^ (value >> 37n)) * MIX_1);
  return hash ^ (hash >> 32n);
}

function spread(value: bigint): bigint {
  let hash = u64((value ^ (value >> 33n)) * P64_2);
  hash = u64((hash ^ (hash >> 29n)) * P64_3);
  return hash ^ (hash >> 32n);
}

function rotated(value: bigint, by: bigint): bigint {
  return u64(value << by) | (value >> (64n - by));
}

function swapped(value: bigint): bigint {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigUint64(0, value);
  return bytes.getBigUint64(0, true);
}

function word(data: DataView, at: number): bigint {
  return data.getBigUint64(at, true);
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function fromHex(text: string): ArrayBuffer {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16)).buffer;
}
