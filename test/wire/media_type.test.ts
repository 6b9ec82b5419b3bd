import { expect, test } from "vitest";
import { acceptManifests, invocationMediaType, manifestDialect } from "../../src/wire/manifest.ts";

test("what is asked for, and what is taken for a manifest", () => {
  expect(acceptManifests()).toBe(
    [1, 2, 3, 4].map((v) => `application/vnd.restate.endpointmanifest.v${v}+json`).join(", ") +
      ", " + [1, 2, 3, 4].map((v) => `application/vnd.svc.endpointmanifest.v${v}+json`).join(", "),
  );
  expect(manifestDialect("application/vnd.restate.endpointmanifest.v1+json")).toBe("restate");
  expect(manifestDialect("application/vnd.svc.endpointmanifest.v4+json")).toBe("svc");
});

test.each([
  "application/json",
  "application/vnd.restate.endpointmanifest.v5+json",
  "application/vnd.restate.endpointmanifest.v4+json; charset=utf-8",
  "application/vnd.restate.endpointmanifest.V4+json",
  " application/vnd.restate.endpointmanifest.v4+json",
  "",
])("'%s' is no manifest", (contentType) => {
  expect(manifestDialect(contentType)).toBeUndefined();
});

test("attempts are spoken in the dialect of the deployment", () => {
  expect(invocationMediaType("restate", 6)).toBe("application/vnd.restate.invocation.v6");
  expect(invocationMediaType("svc", 5)).toBe("application/vnd.svc.invocation.v5");
});
