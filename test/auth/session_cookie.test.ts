import { describe, expect, test } from "vitest";
import {
  reachedAs,
  sessionCookie,
  sessionsIn,
  withoutSession,
  withoutSessions,
} from "../../src/auth/session_cookie.ts";

const HOUR_MS = 3_600_000;

describe("a cookie", () => {
  const made = (more: Partial<Parameters<typeof sessionCookie>[0]>) =>
    sessionCookie({
      value: "v",
      path: "/",
      port: "9070",
      isSecure: false,
      maxAgeMs: HOUR_MS,
      ...more,
    });

  test("is for no script, no other site, and the host alone", () => {
    expect(made({})).toBe(
      "perdure-session-9070=v; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict",
    );
  });

  test("has a prefix that only https may set, and __Host- where its path is the root", () => {
    expect(made({ isSecure: true, port: "" })).toBe(
      "__Host-perdure-session=v; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure",
    );
    expect(made({ isSecure: true, port: "", path: "/admin/" })).toBe(
      "__Secure-perdure-session=v; Path=/admin/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure",
    );
  });

  test("is taken away where it was set", () => {
    expect(withoutSession("__Host-perdure-session", "/admin/")).toContain("=; Path=/; Max-Age=0;");
    expect(withoutSession("perdure-session-9070", "/admin/")).toContain("=; Path=/admin/; Max-Age");
  });
});

describe("sessions of a request", () => {
  const names = (header: string, port = "9070", isSecure = false) =>
    sessionsIn(header, { port, isSecure }).map(({ name }) => name);

  test("are those of our names, those of this port first", () => {
    const header = "a=1; perdure-session=1; perdure-session-9071=2; xperdure-session-9070=3; " +
      "perdure-session-9070=4; __Secure-perdure-session-9070=5; __Host-perdure-session-9070=6";
    expect(names(header)).toEqual([
      "__Host-perdure-session-9070",
      "__Secure-perdure-session-9070",
      "perdure-session-9070",
      "perdure-session",
      "perdure-session-9071",
    ]);
  });

  test("are, over https, those that no plain HTTP can have set", () => {
    expect(names("perdure-session=1; __Host-perdure-session=2", "", true)).toEqual([
      "__Host-perdure-session",
    ]);
  });

  test("are eight at most", () => {
    const header = Array.from({ length: 50 }, (_, i) => `perdure-session-${i + 1}=x`).join("; ");
    expect(names(header)).toHaveLength(8);
  });

  test("are taken out of a header, and nothing else is", () => {
    expect(withoutSessions("a=1; b=2;c")).toBe("a=1; b=2;c");
    expect(withoutSessions("perdure-session-9070=x")).toBe("");
    expect(withoutSessions("a=1; __Host-perdure-session=x=y; b=perdure-session; c")).toBe(
      "a=1; b=perdure-session; c",
    );
  });
});

describe("how a browser reached the server", () => {
  const reached = (url: string, headers: Record<string, string> = {}, method = "GET") =>
    reachedAs(new Request(url, { headers, method }));

  test("is said by the address, a proxy, or the browser itself", () => {
    const plain = { port: "9070", isSecure: false };
    expect(reached("http://127.0.0.1:9070/x")).toEqual(plain);
    expect(reached("https://127.0.0.1:9070/x")).toEqual({ ...plain, isSecure: true });
    const forwarded = [{ "x-forwarded-proto": "https, http" }, { forwarded: "for=1;proto=https" }];
    for (const headers of forwarded) {
      expect(reached("http://127.0.0.1:9070/x", headers)).toEqual({ ...plain, isSecure: true });
    }
    for (const headers of [{ "x-forwarded-proto": "http, https" }, { forwarded: "proto=http" }]) {
      expect(reached("http://127.0.0.1:9070/x", headers)).toEqual(plain);
    }
    const page = { origin: "https://admin.shop.example" };
    expect(reached("http://127.0.0.1:9070/x", page, "POST")).toEqual({ port: "", isSecure: true });
    expect(reached("http://127.0.0.1:9070/x", { origin: "null" }, "POST")).toEqual(plain);
  });
});
