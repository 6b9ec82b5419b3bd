import { describe, expect, test } from "vitest";
import { call, cloudWith, envelope, role } from "./_world.ts";

describe("a role", () => {
  const lent = (until: number) => ({
    body: `<AssumeRoleResponse><AssumeRoleResult><Credentials>
      <AccessKeyId>AKIDLENT</AccessKeyId><SecretAccessKey>lent secret</SecretAccessKey>
      <SessionToken>session</SessionToken>
      <Expiration>${new Date(until).toISOString()}</Expiration>
      </Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  });

  test("is assumed once for many calls, and again before it ends", async () => {
    let lifeMs = 3_600_000;
    const { functions, cloud } = await cloudWith(
      ({ path }) => path === "/" ? lent(Date.now() + lifeMs) : envelope(200, "done"),
      { externalId: "a&b" },
    );
    const as = { assumeRoleArn: role };
    const bodies = await Promise.all([1, 2, 3].map(() => call(functions, [], as)));
    expect(bodies.map(({ body }) => body)).toEqual(["done", "done", "done"]);
    const asked = () => cloud.seen.filter(({ path }) => path === "/");
    expect(asked()).toHaveLength(1);
    expect(asked()[0]?.body).toBe(
      "Action=AssumeRole&Version=2011-06-15&" +
        `RoleArn=${encodeURIComponent(role)}&RoleSessionName=perdure&ExternalId=a%26b`,
    );
    const invoked = cloud.seen.find(({ path }) => path !== "/");
    expect(invoked?.headers["x-amz-security-token"]).toBe("session");
    expect(invoked?.headers.authorization).toContain("Credential=AKIDLENT/");
    // Credentials that expire within minutes are not used again.
    lifeMs = 60_000;
    const brief = { assumeRoleArn: `${role}-2` };
    await call(functions, [], brief);
    await call(functions, [], brief);
    expect(asked()).toHaveLength(3);
  });

  test("that is refused fails the call, with the reason and no secret", async () => {
    const { functions } = await cloudWith(({ path }) =>
      path === "/"
        ? { status: 403, body: "<Error><Message>not authorized</Message></Error>" }
        : envelope(200, "")
    );
    const { failure } = await call(functions, [], { assumeRoleArn: role });
    expect(failure).toEqual({
      kind: "refused",
      message: `the role '${role}' cannot be assumed: status 403: not authorized`,
    });
  });

  test("whose credentials cannot be read fails the call", async () => {
    const { functions } = await cloudWith(() => ({ body: "<x/>" }));
    const { failure } = await call(functions, [], { assumeRoleArn: role });
    expect(failure?.message).toContain("the answer holds no credentials");
  });
});
