import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newInvocationId } from "../../src/model/id.ts";
import { childTrace, hex, parseTrace, printTrace, spanOf } from "../../src/model/trace.ts";

const ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("traceparent", () => {
  test("is read with its state, and printed as it came", () => {
    const trace = parseTrace(`00-${ID}-${SPAN}-01`, "a=1,b=2");
    expect(trace).toEqual({ id: ID, parent: SPAN, sampled: true, state: "a=1,b=2" });
    expect(trace && printTrace(trace)).toBe(`00-${ID}-${SPAN}-01`);
  });

  test("keeps of the flags whether it is sampled", () => {
    expect(parseTrace(`00-${ID}-${SPAN}-02`)?.sampled).toBe(false);
    expect(parseTrace(`00-${ID}-${SPAN}-03`)?.sampled).toBe(true);
  });

  test("of a later version counts as far as it is known", () => {
    expect(parseTrace(`cc-${ID}-${SPAN}-01-what`)).toMatchObject({ id: ID });
  });

  test.each([
    undefined,
    "",
    `ff-${ID}-${SPAN}-01`,
    `00-${ID}-${SPAN}-01-more`,
    `00-${ID.toUpperCase()}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${ID}-${"0".repeat(16)}-01`,
    `00-${ID}-${SPAN}`,
    `00-${ID.slice(1)}-${SPAN}-01`,
    `00-${ID}-${SPAN}-0x`,
  ])("that is wrong does not count: %s", (text) => {
    expect(parseTrace(text, "a=1")).toBeUndefined();
  });

  test("nothing that is sent makes it throw", () => {
    fc.assert(fc.property(fc.string(), fc.string(), (parent, state) => {
      parseTrace(parent, state);
    }));
  });

  test("a state too long for every row is left out", () => {
    expect(parseTrace(`00-${ID}-${SPAN}-01`, "x".repeat(513))).not.toHaveProperty("state");
  });
});

test("a call lies below its caller's span only where there is one", () => {
  const identity = { service: "s", handler: "h", isWorkflowRun: false };
  const { id } = newInvocationId(identity, new Uint8Array(16).fill(7), 1);
  const trace = { id: ID, parent: SPAN, sampled: true };
  expect(childTrace(trace, id)).toBe(trace);
  expect(childTrace({ ...trace, spans: true }, id)).toEqual({
    ...trace,
    spans: true,
    parent: spanOf(id),
  });
  expect(spanOf(id)).toMatch(/^[0-9a-f]{16}$/);
});

test("bytes are two digits each", () => {
  expect(hex(new Uint8Array([0, 1, 15, 16, 255]))).toBe("00010f10ff");
});
