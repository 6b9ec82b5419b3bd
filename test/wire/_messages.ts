import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { printAwakeableId } from "../../src/model/awakeable.ts";
import { printInvocationId } from "../../src/model/id.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";

// Messages as an SDK may send them, built by the generated code.

/** A kind of message: its number, its generated code, and arbitrary contents of it. */
export interface Kind<T extends DescMessage = DescMessage> {
  readonly type: number;
  readonly schema: T;
  readonly contents: fc.Arbitrary<MessageInitShape<T>>;
}

function kind<T extends DescMessage>(
  type: number,
  schema: T,
  contents: fc.Arbitrary<MessageInitShape<T>>,
): Kind {
  return { type, schema, contents: contents as fc.Arbitrary<never> };
}

const u32 = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffffffff }));
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** Well-formed text, short and long, of one to four bytes a character. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.constant("\ufefftext"),
);
const bytes = fc.uint8Array({ maxLength: 300 });
const key = text.map((one) => new TextEncoder().encode(one));
const value = fc.record({ content: bytes });
const metadata = fc.array(fc.record({ key: text, value: text }), { maxLength: 3 });
const code = fc.oneof(fc.constantFrom(0, 409, 500, 65535, 65536), u32);
const failure = fc.record({ code, message: text, metadata });
const headers = fc.array(fc.record({ key: text, value: text }), { maxLength: 4 });

/** One member of a oneof. */
function one<C extends string, T>(name: C, contents: fc.Arbitrary<T>) {
  return contents.map((it) => ({ case: name, value: it }));
}

const { Combinator } = pb;
const combinators = [
  Combinator.UNKNOWN,
  Combinator.FIRST_COMPLETED,
  Combinator.ALL_COMPLETED,
  Combinator.FIRST_SUCCEEDED_OR_ALL_FAILED,
  Combinator.ALL_SUCCEEDED_OR_FIRST_FAILED,
];

type FutureShape = MessageInitShape<typeof pb.FutureSchema>;

/** A tree of futures in which each has `least` leaves of its own. */
export function futureOf(least: 0 | 1, levels = 4): fc.Arbitrary<FutureShape> {
  const nested = levels > 1 ? fc.array(futureOf(least, levels - 1), { maxLength: 3 }) : undefined;
  return fc.record({
    waitingCompletions: fc.array(u32, { minLength: least, maxLength: 3 }),
    waitingSignals: fc.array(u32, { maxLength: least * 3 }),
    waitingNamedSignals: fc.array(text, { maxLength: least * 3 }),
    nestedFutures: nested ?? fc.constant([]),
    combinatorType: fc.constantFrom(...combinators),
  });
}

export const output = kind(
  0x0401,
  pb.OutputCommandSchema,
  fc.record({
    result: fc.oneof(one("value", value), one("failure", failure)),
    name: text,
  }),
);

export const proposeRunCompletion = kind(
  0x0005,
  pb.ProposeRunCompletionSchema,
  fc.record({
    resultCompletionId: u32,
    result: fc.oneof(one("value", bytes), one("failure", failure)),
  }),
);

export const run = kind(
  0x0411,
  pb.RunCommandSchema,
  fc.record({ resultCompletionId: u32, name: text }),
);

export const getEagerState = kind(
  0x0407,
  pb.GetEagerStateCommandSchema,
  fc.record({
    key,
    result: fc.oneof(one("void", fc.constant({})), one("value", value)),
    name: text,
  }),
);

export const setState = kind(
  0x0403,
  pb.SetStateCommandSchema,
  fc.record({ key, value, name: text }),
);

const callFields = {
  serviceName: text,
  handlerName: text,
  parameter: bytes,
  headers,
  key: text,
  idempotencyKey: fc.option(text, { nil: undefined }),
  scope: fc.option(text, { nil: undefined }),
  limitKey: fc.option(text, { nil: undefined }),
  invocationIdCompletionId: u32,
  name: text,
};

export const call = kind(
  0x040d,
  pb.CallCommandSchema,
  fc.record({ ...callFields, resultCompletionId: u32 }) as fc.Arbitrary<never>,
);

export const oneWayCall = kind(
  0x040e,
  pb.OneWayCallCommandSchema,
  fc.record({ ...callFields, invokeTime: u64 }) as fc.Arbitrary<never>,
);

export const suspension = kind(
  0x0001,
  pb.SuspensionSchema,
  fc.record({
    waitingCompletions: fc.array(u32, { minLength: 1, maxLength: 5 }),
    waitingSignals: fc.array(u32, { maxLength: 5 }),
    waitingNamedSignals: fc.array(text, { maxLength: 5 }),
  }),
);

/** The shape of version 7. */
export const suspensionV7 = kind(
  0x0001,
  pb.SuspensionV7Schema,
  fc.record({ awaitingOn: futureOf(1) }),
);

/** The rest of what is understood, decoded by the generated code itself. */
export const others = [
  oneWayCall,
  kind(0x0402, pb.GetLazyStateCommandSchema, fc.record({ key, resultCompletionId: u32 })),
  kind(0x0404, pb.ClearStateCommandSchema, fc.record({ key, name: text })),
  kind(0x0405, pb.ClearAllStateCommandSchema, fc.record({ name: text })),
  kind(0x0406, pb.GetLazyStateKeysCommandSchema, fc.record({ resultCompletionId: u32 })),
  kind(
    0x0408,
    pb.GetEagerStateKeysCommandSchema,
    fc.record({ value: fc.record({ keys: fc.array(key) }) }),
  ),
  kind(0x040c, pb.SleepCommandSchema, fc.record({ wakeUpTime: u64, resultCompletionId: u32 })),
  kind(0x0002, pb.ErrorSchema, fc.record({ code, message: text, stacktrace: text })),
  kind(0x0003, pb.EndSchema, fc.constant({})),
];

/** A well-formed invocation id. */
const invocationId = fc.uint8Array({ minLength: 24, maxLength: 24 }).map(printInvocationId);
const awakeableId = fc.tuple(invocationId, u32).map(([id, index]) => printAwakeableId(id, index));
const result = fc.oneof(one("value", value), one("failure", failure));
const subject = fc.oneof(
  one("invocationId", invocationId),
  one("workflowTarget", fc.record({ workflowName: text, workflowKey: text })),
  one(
    "idempotentRequestTarget",
    fc.record({
      serviceName: text,
      serviceKey: fc.option(text, { nil: undefined }),
      handlerName: text,
      idempotencyKey: text.filter((key) => key !== ""),
    }) as fc.Arbitrary<Record<string, string>>,
  ),
);

/** Commands on promises, signals and other invocations. */
export const rareCommands = [
  kind(
    0x0409,
    pb.GetPromiseCommandSchema,
    fc.record({ key: text, resultCompletionId: u32, name: text }),
  ),
  kind(
    0x040a,
    pb.PeekPromiseCommandSchema,
    fc.record({ key: text, resultCompletionId: u32, name: text }),
  ),
  kind(
    0x040b,
    pb.CompletePromiseCommandSchema,
    fc.record({
      key: text,
      completion: fc.oneof(one("completionValue", value), one("completionFailure", failure)),
      resultCompletionId: u32,
      name: text,
    }),
  ),
  kind(
    0x0410,
    pb.SendSignalCommandSchema,
    fc.record({
      targetInvocationId: invocationId,
      signalId: fc.oneof(one("idx", u32), one("name", text)),
      result: fc.oneof(one("void", fc.constant({})), result),
      entryName: text,
    }),
  ),
  kind(
    0x0412,
    pb.AttachInvocationCommandSchema,
    fc.record({ target: subject, resultCompletionId: u32, name: text }),
  ),
  kind(
    0x0413,
    pb.GetInvocationOutputCommandSchema,
    fc.record({ target: subject, resultCompletionId: u32, name: text }),
  ),
  kind(
    0x0414,
    pb.CompleteAwakeableCommandSchema,
    fc.record({ awakeableId, result, name: text }),
  ),
];

export const hotCommands = [output, proposeRunCompletion, run, getEagerState, setState, call];

/** A message as bytes, next to what it holds. */
export function encoded(one: Kind): fc.Arbitrary<Uint8Array> {
  return one.contents.map((contents) => toBinary(one.schema, create(one.schema, contents)));
}
