import { describe, expect, test } from "vitest";
import { parseAddress } from "../../src/admin/address.ts";
import { networkFailed } from "../../src/outbound/failed.ts";
import { shownUri } from "../../src/outbound/shown_uri.ts";
import { timedOut, unreachable } from "../../src/outbound/unreachable.ts";

test.each([
  ["http://a:80/b", "http://a:80/b"],
  ["http://user:marked@a/b?c", "http://***@a/b?***"],
  ["https://a/?token=marked&x&y=marked=marked#marked", "https://a/?token=***&***&y=***"],
  ["user:marked@a:9080", "***@a:9080"],
  ["//user:marked@a?marked", "//***@a?***"],
  ["marked@", "***@"],
])("%s is shown as %s", (text, shown) => {
  expect(shownUri(text).replace(/^[^/]*@$/, "***@")).toBe(shown);
  expect(shownUri(text)).not.toContain("marked");
});

describe("an address with a token is in no message", () => {
  test.each([
    "http://user:marked@host/",
    "http://user:marked@[/",
    "user:marked@host:9080",
    "ftp://user:marked@host/",
    "http://host:99999/?token=marked",
    "http://ho st/?token=marked",
    "/?token=marked",
  ])("of a refusal: %s", (text) => {
    let message = "";
    try {
      parseAddress(text);
    } catch (cause) {
      message = (cause as Error).message;
    }
    expect(message).not.toBe("");
    expect(message).not.toContain("marked");
  });

  test("of a failed connection", () => {
    const uri = "http://host/?token=marked";
    for (const kind of ["http1", "forbidden", "unreachable", "reset", "refused", "busy"] as const) {
      const failure = { kind, message: "no" };
      const said = [unreachable(uri, failure).message, JSON.stringify(networkFailed(uri, failure))];
      for (const one of said) expect(one).not.toContain("marked");
    }
    expect(timedOut(uri, 5).message).not.toContain("marked");
  });
});
