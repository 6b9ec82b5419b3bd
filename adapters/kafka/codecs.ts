import * as zlib from "node:zlib";
import { decompress } from "fzstd";
import kafkajs from "kafkajs";
import { unpackLz4 } from "../../src/kafka/codecs/lz4.ts";
import { UNPACKED_BYTES_MAX } from "../../src/kafka/codecs/output.ts";
import { unpackSnappy } from "../../src/kafka/codecs/snappy.ts";

type Unpack = (packed: Uint8Array) => Uint8Array;

/** Node has Zstandard since 22.15 only. */
const native = (zlib as {
  readonly zstdDecompressSync?: (
    packed: Uint8Array,
    options: { readonly maxOutputLength: number },
  ) => Uint8Array;
}).zstdDecompressSync;

const unpackZstd: Unpack = native === undefined
  ? (packed) => decompress(packed)
  : (packed) => native(packed, { maxOutputLength: UNPACKED_BYTES_MAX });

/** Makes kafkajs read Snappy, LZ4 and Zstandard; it has gzip itself. Nothing is written packed. */
export function registerCodecs(): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  CompressionCodecs[CompressionTypes.Snappy] = () => codec(unpackSnappy);
  CompressionCodecs[CompressionTypes.LZ4] = () => codec(unpackLz4);
  CompressionCodecs[CompressionTypes.ZSTD] = () => codec(unpackZstd);
}

function codec(unpack: Unpack) {
  return {
    compress: () => Promise.reject(new Error("The sidecar packs nothing")),
    decompress: async (packed: Buffer) => {
      const bytes = unpack(packed);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    },
  };
}
