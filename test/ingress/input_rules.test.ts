import { describe, expect, it } from "vitest";
import { fixture, told } from "./_fixture.ts";

const OK = "202";
const EMPTY_TYPE = "400 Empty content-type";
const BAD_RULE = "400 Bad configuration of the input validation rules";
const mismatch = (type: string, declared: string) =>
  `400 Content-type '${type}' does not match '${declared}'`;
const notEmpty = (found: string) =>
  `400 Expected body and content-type to be empty, but wasn't with content-type '${found}'`;

const json = "application/json";
const text = "text/plain; charset=utf-8";

// Every answer was the reference server's, for the same manifest and the same requests: nothing,
// only a JSON content type, only a body, JSON, text, and a body with an empty content type.
const requests: [type: string | null, body: string][] = [
  [null, ""],
  [json, ""],
  [null, "{}"],
  [json, "{}"],
  [text, "x"],
  ["", "x"],
];
const rows: [handler: string, ...outcomes: string[]][] = [
  ["absent", OK, OK, EMPTY_TYPE, OK, OK, OK],
  [
    "none",
    OK,
    notEmpty('Some("application/json")'),
    notEmpty("None"),
    notEmpty('Some("application/json")'),
    notEmpty('Some("text/plain; charset=utf-8")'),
    notEmpty('Some("")'),
  ],
  ["opt", OK, OK, EMPTY_TYPE, OK, mismatch(text, json), mismatch("", json)],
  ["req", EMPTY_TYPE, OK, EMPTY_TYPE, OK, mismatch(text, json), mismatch("", json)],
  [
    "schema",
    OK,
    "400 Empty body not allowed",
    EMPTY_TYPE,
    OK,
    mismatch(text, json),
    mismatch("", json),
  ],
  [
    "reqschema",
    EMPTY_TYPE,
    "400 Empty body not allowed",
    EMPTY_TYPE,
    OK,
    mismatch(text, json),
    mismatch("", json),
  ],
  ["noct", BAD_RULE, BAD_RULE, BAD_RULE, BAD_RULE, BAD_RULE, BAD_RULE],
  ["any", EMPTY_TYPE, OK, EMPTY_TYPE, OK, OK, OK],
  [
    "text",
    OK,
    mismatch(json, "text/*"),
    EMPTY_TYPE,
    mismatch(json, "text/*"),
    OK,
    mismatch("", "text/*"),
  ],
];

const cases = rows.flatMap(([handler, ...outcomes]) =>
  outcomes.map((wanted, at) => {
    const [type, body] = requests[at]!;
    return { handler, type, body, wanted };
  })
);

async function outcome(handler: string, type: string | null, body: string): Promise<string> {
  const headers = type === null ? {} : { "content-type": type };
  // Bytes, because Fetch would add a content type to a text.
  const response = await fixture().ask("POST", `/svc/send/Svc/${handler}`, {
    headers,
    ...(body === "" ? {} : { body: new TextEncoder().encode(body) }),
  });
  const [status, { message }] = await told(response) as [number, { message?: string }];
  return message === undefined
    ? `${status}`
    : `${status} ${message.replace("input validation error: ", "")}`;
}

describe("a handler's input rule", () => {
  it.each(cases)("$handler, type $type, body $body: $wanted", async (given) => {
    expect(await outcome(given.handler, given.type, given.body)).toBe(given.wanted);
  });

  it.each(["application/json; charset=utf-8", "application/json ;x=y", "application/json;"])(
    "%j is JSON",
    async (type) => {
      expect(await outcome("opt", type, "{}")).toBe(OK);
    },
  );

  it.each(["APPLICATION/JSON", "application/*", "application/x+json", "json", "*/*"])(
    "%j is not JSON",
    async (type) => {
      expect(await outcome("opt", type, "{}")).toBe(mismatch(type, json));
    },
  );

  // The reference refuses them all, so that such a handler could not be called with a body.
  it("ignores parameters of the declared type", async () => {
    for (const type of ["text/plain", text, "text/plain; charset=latin1"]) {
      expect(await outcome("latin", type, "x")).toBe(OK);
    }
    expect(await outcome("latin", json, "{}")).toBe(mismatch(json, "text/plain; charset=latin1"));
  });

  it("does not parse the body", async () => {
    expect(await outcome("schema", json, '{"a":')).toBe(OK);
  });

  it("lets an empty GET pass like an empty POST", async () => {
    const { ask, invocations } = fixture();
    expect((await ask("GET", "/svc/call/Svc/opt")).status).toBe(200);
    expect((await ask("GET", "/svc/send/Obj/k/set")).status).toBe(202);
    expect((await ask("GET", "/svc/call/Svc/req")).status).toBe(400);
    expect(invocations.calls[0]?.value).toHaveLength(0);
  });
});
