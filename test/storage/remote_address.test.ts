import { expect, test } from "vitest";
import { remoteAddress } from "../../adapters/libsql/remote/address.ts";

test.each([
  ["libsql://db-me.turso.io", "", "https://db-me.turso.io", ""],
  ["libsql://localhost:8080?tls=0", "", "http://localhost:8080", ""],
  ["LIBSQL://host?authToken=a.b-c", "", "https://host", "a.b-c"],
  ["https://host:8443/dev/one/", "t", "https://host:8443/dev/one", "t"],
  ["http://127.0.0.1:8080", "", "http://127.0.0.1:8080", ""],
  ["http://[::1]:8080/?authToken=inner", "outer", "http://[::1]:8080", "outer"],
  ["http://host:443", "", "http://host:443", ""],
  ["libsql://host:443?tls=0", "", "http://host:443", ""],
])("%s is taken apart", (typed, token, url, authToken) => {
  expect(remoteAddress(typed, token)).toEqual({ url, authToken });
});

test.each([
  ["file:///a.db", ""],
  ["http://", ""],
  ["http://s3cret@host", ""],
  ["http://me:s3cret@host", ""],
  ["http://host?token=s3cret", ""],
  ["http://host#s3cret", ""],
  ["http://host?authToken=s3cret%0a", ""],
  ["http://host", "s3cret\n"],
  ["http://host:s3cret", ""],
])("%s is refused without a word of it", (typed, token) => {
  const refused = () => remoteAddress(typed, token);
  expect(refused).toThrow(expect.objectContaining({ code: "RT0002" }));
  expect(refused).not.toThrow("s3cret");
});
