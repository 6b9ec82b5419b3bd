import { expect, test } from "vitest";
import { clientAddress } from "../../src/auth/client_address.ts";

function addressOf(connection: string | undefined, told?: string, header?: string) {
  const headers: HeadersInit = told === undefined ? {} : { "x-forwarded-for": told };
  const address = clientAddress(header, () => connection);
  return address(new Request("http://127.0.0.1/", { headers }));
}

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::1", "2001:db8:1:3::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["[2001:db8::1]", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["a name", undefined],
  ["1", undefined],
  [undefined, undefined],
])("a connection from %s is one of %s", (connection, expected) => {
  expect(addressOf(connection)).toBe(expected);
});

test("what a client says of itself is not believed unless a setting names its header", () => {
  expect(addressOf("192.0.2.1", "198.51.100.7")).toBe("192.0.2.1");
  expect(addressOf("192.0.2.1", "198.51.100.7", "x-real-ip")).toBe("192.0.2.1");
  expect(addressOf("192.0.2.1", "198.51.100.7", "x-forwarded-for")).toBe("198.51.100.7");
});

test("the last address counts, which the nearest proxy has added", () => {
  const told = (text: string) => addressOf("192.0.2.1", text, "X-Forwarded-For");
  expect(told("203.0.113.5, 198.51.100.7")).toBe("198.51.100.7");
  expect(told("198.51.100.7,2001:db8::9")).toBe("2001:db8:0:0::/64");
  for (const text of ["", "unknown", "198.51.100.7, _hidden", "198.51.100.7:80", "<script>"]) {
    expect(told(text), text).toBe("192.0.2.1");
  }
});

test("where nothing is known of connections, there is no address", () => {
  expect(clientAddress(undefined, undefined)(new Request("http://127.0.0.1/"))).toBeUndefined();
});
