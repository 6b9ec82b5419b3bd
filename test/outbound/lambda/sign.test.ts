import { describe, expect, test } from "vitest";
import { signedHeaders } from "../../../src/outbound/lambda/sign.ts";

const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
const now = Date.UTC(2015, 7, 30, 12, 36, 0);
const nothing = new Uint8Array(0);

describe("a signature", () => {
  test.each(
    [
      ["GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
      ["POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    ] as const,
  )("of %s is that of the cloud's own test suite", (method, signature) => {
    const request = { method, url: "https://example.amazonaws.com/", headers: {}, body: nothing };
    const options = { credentials, region: "us-east-1", service: "service", now };
    expect(signedHeaders(request, options)).toEqual({
      "x-amz-date": "20150830T123600Z",
      authorization: "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/" +
        `aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    });
  });

  test("of the documentation's example equals the documented one", () => {
    const request = {
      method: "GET",
      url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
      headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
      body: nothing,
    } as const;
    const options = { credentials, region: "us-east-1", service: "iam", now };
    expect(signedHeaders(request, options)["authorization"]).toContain(
      "SignedHeaders=content-type;host;x-amz-date, " +
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    );
  });

  test("covers the token of temporary credentials", () => {
    const request = { method: "GET", url: "https://x.y/", headers: {}, body: nothing } as const;
    const options = { region: "r", service: "s", now };
    const signed = signedHeaders(request, {
      ...options,
      credentials: { ...credentials, sessionToken: "token" },
    });
    expect(signed["x-amz-security-token"]).toBe("token");
    expect(signed["authorization"]).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token");
  });
});
