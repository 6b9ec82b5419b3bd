import { expect, test } from "vitest";
import { discovered, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";

test("an update keeps a header whose value is given as it is shown to others, and invents none", async () => {
  const { patch, put, get, endpoints, asked, register } = await setup();
  endpoints.set(uri, discovered([]));
  const { id } = (await register({ uri, additional_headers: { a: "1" } })).json;
  const path = `/deployments/${id}`;
  const hidden = "***";
  for (const change of [patch, put]) {
    const { json } = await change(path, { additional_headers: { A: hidden, b: "2" } });
    expect(json.additional_headers).toEqual({ a: "1", b: "2" });
    expect(asked.at(-1)?.additionalHeaders).toEqual({ a: "1", b: "2" });
    const { length } = asked;
    const unknown = await change(path, { additional_headers: { a: "3", c: hidden } });
    expect(unknown.status).toBe(400);
    expect(unknown.json.message).toMatch(/'\*\*\*' of 'c'.*Give its value/);
    expect(asked).toHaveLength(length);
  }
  expect((await get(path)).json.additional_headers).toEqual({ a: "1", b: "2" });
  const variable = { additional_headers: { a: { env: "PERDURE_HEADER_A" } } };
  await patch(path, variable);
  expect((await patch(path, { additional_headers: { a: hidden } })).json).toMatchObject(variable);
  // A registration, unlike an update, keeps no header of before: there is no value behind the mask.
  for (const force of [false, true]) {
    const again = await register({ uri, force, additional_headers: { a: hidden } });
    expect(again.status).toBe(400);
  }
});
