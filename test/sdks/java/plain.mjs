// Bodies, content types, headers and terminal errors.
import { answers, call, callRaw, check, note } from "./world.mjs";

const bodies = async () => {
  await answers("echo", { path: "Kitchen/echo", input: "hé" }, "hé");
  const person = { name: "n", age: 1, tags: ["t"] };
  await answers("a record", { path: "Kitchen/person", input: person }, {
    ...person,
    name: "n!",
    age: 2,
  });
  await check("raw bytes", [200, "application/x-bytes", [255, 0, 1]], async () => {
    const body = new Uint8Array([1, 0, 255]);
    const { status, value, headers } = await callRaw("Kitchen/bytes", "application/x-bytes", body);
    return [status, headers.get("content-type"), value];
  });
  await check("void in and out", [200, null, ""], async () => {
    const { status, value, headers } = await call("Kitchen/nothing");
    return [status, headers.get("content-type"), value];
  });
  await answers("no input", { path: "Kitchen/noInput" }, "none");
  await answers("no output", { path: "Kitchen/noOutput", input: "x" }, "");
  const headers = { "x-check-a": "1" };
  await answers("headers", { path: "Kitchen/headers", headers }, "{x-check-a=1} true");
  await check("1 MiB in and out", true, async () => {
    const text = "x".repeat(1 << 20);
    return (await call("Kitchen/echo", text)).value === text;
  });
};

const refusals = async () => {
  const refused = (name, asked) =>
    check(name, 400, async () => {
      const { status, value } = await asked();
      note(`${name}, in words`, value);
      return status;
    });
  await refused("a type not accepted", () => callRaw("Kitchen/bytes", "text/plain", "x"));
  await refused("a body where none is taken", () => call("Kitchen/noInput", "x"));
  await refused("no body where one is needed", () => call("Kitchen/echo"));
  await refused("no JSON", () => callRaw("Kitchen/person", "application/json", "{"));
  const hidden = { code: 400, message: "the invoked service is not public", source: "ingress" };
  await answers("a private service", { path: "Hidden/whisper", input: "x" }, hidden, 400);
};

/** Bodies, and what is refused. */
export const plain = async () => {
  await bodies();
  await refusals();
  for (const code of [1, 400, 409, 418, 500, 599, 700]) {
    const told = { code, message: "teapot ä", source: "invocation" };
    const input = { code, message: "teapot ä" };
    await answers(
      `a terminal error ${code}`,
      { path: "Kitchen/fail", input },
      told,
      code < 400 ? 500 : code,
    );
  }
};
