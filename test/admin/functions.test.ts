import { describe, expect, test } from "vitest";
import { discovered, refusal, service, setup } from "./_setup.ts";

const arn = "arn:aws:lambda:eu-central-1:123456789012:function:shop:1";
const newer = "arn:aws:lambda:eu-central-1:123456789012:function:shop:2";
const role = "arn:aws:iam::123456789012:role/caller";
const uri = "http://localhost:9080/";

function found() {
  return discovered([service("A")], { mode: "requestResponse", httpVersion: "HTTP/1.1" });
}

describe("a function", () => {
  test("is registered by its ARN, and shown with it", async () => {
    const { endpoints, register, get, asked } = await setup();
    endpoints.set(arn, found());
    const { status, json } = await register({ arn, assume_role_arn: role, use_http_11: true });
    expect(status).toBe(201);
    expect(asked).toEqual([
      { uri: arn, lambda: { assumeRoleArn: role }, useHttp11: true, additionalHeaders: {} },
    ]);
    const shown = (await get(`/deployments/${json.id}`)).json;
    expect(shown).toMatchObject({ arn, assume_role_arn: role });
    for (const field of ["uri", "protocol_type", "http_version"]) {
      expect(shown).not.toHaveProperty(field);
    }
    expect((await get("/deployments")).json.deployments[0]).toMatchObject({ arn });
  });

  test("that is known is asked in the role it was registered with", async () => {
    const { endpoints, register, asked } = await setup();
    endpoints.set(arn, found());
    await register({ arn, assume_role_arn: role });
    expect((await register({ arn })).status).toBe(200);
    expect(asked[1]).toEqual({
      uri: arn,
      lambda: { assumeRoleArn: role },
      useHttp11: false,
      additionalHeaders: {},
    });
    expect((await register({ arn, force: true })).status).toBe(200);
    expect(asked[2]?.lambda).toEqual({});
  });

  test("gives way to a URL beside it", async () => {
    const { endpoints, register, asked } = await setup();
    endpoints.set(uri, found());
    expect((await register({ uri, arn })).status).toBe(201);
    expect(asked[0]).not.toHaveProperty("lambda");
  });

  test("is updated in place: version, role, or to a URL and back", async () => {
    const { endpoints, register, patch } = await setup();
    for (const address of [arn, newer, uri]) endpoints.set(address, found());
    const { id } = (await register({ arn })).json;
    const path = `/deployments/${id}`;
    expect((await patch(path, { assume_role_arn: role })).json).toMatchObject({
      arn,
      assume_role_arn: role,
    });
    expect((await patch(path, { arn: newer })).json).toMatchObject({
      arn: newer,
      assume_role_arn: role,
    });
    const moved = (await patch(path, { uri })).json;
    expect(moved).toMatchObject({ id, uri });
    expect(moved).not.toHaveProperty("arn");
    expect((await patch(path, { arn, use_http_11: true })).json).toMatchObject({ id, arn });
    expect(await patch(path, { use_http_11: true })).toMatchObject({
      status: 400,
      json: refusal(null, expect.stringContaining("is lambda while the update options are for")),
    });
  });

  test.each([
    ["foo", "8 components"],
    ["arn:aws:lambda:eu-central-1:123456789012:function:shop", "version or alias suffix"],
    ["arn:aws:s3:eu-central-1:123456789012:function:shop:1", "for the lambda service"],
    ["arn:aws:lambda:eu-central-1:123456789012:layer:shop:1", "for a function"],
    ["arn:moon:lambda:eu-central-1:123456789012:function:shop:1", "known partition"],
    ["arn:aws:lambda:evil.example/:123456789012:function:shop:1", "region"],
    ["arn:aws:lambda:eu-central-1:1:function:shop:1", "12 digits"],
    ["arn:aws:lambda:eu-central-1:123456789012:function:a/b:1", "function name"],
    ["arn:aws:lambda:eu-central-1:123456789012:function:shop:$X", "alias or $LATEST"],
    ["nra:aws:lambda:eu-central-1:123456789012:function:shop:1", "start with"],
  ])("with the ARN %s is refused", async (bad, reason) => {
    const { register, asked } = await setup();
    const { status, json } = await register({ arn: bad });
    expect(status).toBe(400);
    const message = expect.stringMatching(/^The request field 'arn' is invalid\. Reason: /);
    expect(json).toEqual(refusal(null, message));
    expect(json.message).toContain(reason);
    expect(asked).toEqual([]);
  });

  test("with something else than a role is refused", async () => {
    const { register } = await setup();
    for (const bad of ["", "admin", "arn:aws:iam::1:role/r", `${role}\n`]) {
      const { status, json } = await register({ arn, assume_role_arn: bad });
      expect(status).toBe(400);
      expect(json.message).toContain("'assume_role_arn' is invalid");
    }
    expect((await register({ arn, assume_role_arn: 5 })).status).toBe(422);
  });

  test("may be the unpublished version", async () => {
    const { endpoints, register } = await setup();
    const latest = "arn:aws:lambda:eu-central-1:123456789012:function:shop:$LATEST";
    endpoints.set(latest, found());
    expect((await register({ arn: latest })).status).toBe(201);
  });
});
