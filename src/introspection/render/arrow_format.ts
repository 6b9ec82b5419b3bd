import {
  Bool,
  type Builder,
  type DataType,
  DurationMillisecond,
  Field,
  Float64,
  Int64,
  LargeBinary,
  LargeUtf8,
  List,
  makeBuilder,
  makeData,
  Null,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimestampMillisecond,
  TimestampNanosecond,
  Uint32,
  Uint64,
  Utf8,
} from "apache-arrow";
import type { ColumnType } from "../column_type.ts";
import { type Cell, readCell } from "./cell.ts";
import type { AnswerColumn, Format, Row } from "./format.ts";

/** Ends a stream: a message of no length. */
const END = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/**
 * The stream form of Arrow IPC: a schema, a batch for each page, an end
 * (docs/spec/queries.md#answers).
 */
export class ArrowFormat implements Format {
  #columns: readonly AnswerColumn[] = [];
  #schema = new Schema();
  #schemaBytes = 0;

  begin(columns: readonly AnswerColumn[]): Uint8Array {
    this.#columns = columns;
    this.#schema = new Schema(
      columns.map(({ name, type, isShort }) => Field.new(name, arrowType(type, isShort), true)),
    );
    // The library writes whole streams. Of each we keep the part that the one stream lacks.
    const empty = tableToIPC(new Table(this.#schema), "stream");
    this.#schemaBytes = schemaLength(empty);
    return empty.slice(0, this.#schemaBytes);
  }

  page(rows: readonly Row[]): Uint8Array {
    const children = this.#columns.map(({ type, isShort }, i) => {
      const builder = withNulls(makeBuilder({ type: builtType(type, isShort) }));
      for (const row of rows) builder.append(arrowValue(type, readCell(type, row[i] ?? null)));
      const data = builder.finish().toVector().data[0];
      return data?.clone(arrowType(type, isShort)) ??
        makeData({ type: arrowType(type, isShort), length: 0 });
    });
    const type = new Struct(this.#schema.fields);
    const data = makeData({ type, length: rows.length, nullCount: 0, children });
    const bytes = tableToIPC(
      new Table(this.#schema, new RecordBatch(this.#schema, data)),
      "stream",
    );
    return bytes.slice(this.#schemaBytes, bytes.length - END.length);
  }

  end(): Uint8Array {
    return END;
  }
}

/**
 * Told which values are null, the library writes a function for it as text, which some platforms do not
 * allow to be run.
 */
function withNulls(builder: Builder): Builder {
  builder.isValid = (value: unknown) => value !== null;
  builder.children.forEach(withNulls);
  return builder;
}

/** The length of the first message: its mark, the length of its metadata, and that. */
function schemaLength(stream: Uint8Array): number {
  return 8 + new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
}

/** The library counts nanoseconds as floats, which have no room for those of today. */
function builtType(type: ColumnType, isShort = false): DataType {
  return type === "now" ? new Int64() : arrowType(type, isShort);
}

function arrowType(type: ColumnType, isShort = false): DataType {
  switch (type) {
    case "str":
    case "raw":
    case "future":
      return isShort ? new Utf8() : new LargeUtf8();
    case "bool":
      return new Bool();
    case "u32":
      return new Uint32();
    case "u64":
    case "key":
      return new Uint64();
    case "i64":
      return new Int64();
    case "f64":
      return new Float64();
    case "ts":
      return new TimestampMillisecond("+00:00");
    case "now":
      return new TimestampNanosecond();
    case "dur":
    case "interval":
      return new DurationMillisecond();
    case "bin":
      return new LargeBinary();
    case "u32s":
      return new List(Field.new("item", new Uint32(), true));
    case "strs":
      return new List(Field.new("item", new LargeUtf8(), true));
    case "null":
      return new Null();
  }
}

const I64_MAX = 2n ** 63n - 1n;
const I64_MIN = -(2n ** 63n);

/** Where SQLite answers floats, the greatest integers come rounded beyond the end. */
function within64(value: bigint): bigint {
  if (value > I64_MAX) return I64_MAX;
  return value < I64_MIN ? I64_MIN : value;
}

/** A value as the builder of its type takes it. */
function arrowValue(type: ColumnType, value: Cell): unknown {
  if (value === null) return null;
  switch (type) {
    case "u32":
      return Number(value);
    case "u64":
    case "key":
      return BigInt.asUintN(64, value as bigint);
    case "i64":
    case "dur":
    case "interval":
      return within64(value as bigint);
    case "ts":
      return Number(value);
    case "now":
      return BigInt.asIntN(64, (value as bigint) * 1_000_000n);
    default:
      return value;
  }
}
