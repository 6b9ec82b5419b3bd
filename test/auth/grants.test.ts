import { describe, expect, test } from "vitest";
import { BadRole, grantsOf, mayCall } from "../../src/auth/grants.ts";

const call = (text: string) => {
  const parts = text.split("/");
  const [scope, service = "", handler] = parts.length === 4
    ? parts.slice(1)
    : [undefined, ...parts];
  return { scope, service, handler };
};

describe("roles", () => {
  test("of the admin API: the highest one counts", () => {
    expect(grantsOf(["viewer"])).toEqual({ level: "viewer", handlers: [] });
    expect(grantsOf(["viewer", "admin", "operator"]).level).toBe("admin");
    expect(grantsOf(["invoke:Greeter/*"]).level).toBe("none");
  });

  test.each(["operator", "admin", "invoke"])("%s may call every handler", (role) => {
    for (const path of ["Greeter/greet", "scope/a/Order/ship", "Order"]) {
      expect(mayCall(grantsOf([role]), call(path)), path).toBe(true);
    }
  });

  test("viewer may call none", () => {
    expect(mayCall(grantsOf(["viewer"]), call("Greeter/greet"))).toBe(false);
  });

  test.each([
    ["invoke:Greeter/greet", ["Greeter/greet", "scope/a/Greeter/greet"], [
      "Greeter/greeting",
      "Greeter/gree",
      "greeter/greet",
      "Greeter",
      "Order/greet",
    ]],
    ["invoke:Greeter/*", ["Greeter/greet", "Greeter/a", "Greeter"], ["Greeter2/greet", "Order/a"]],
    ["invoke:Order*/ship", ["Order/ship", "Orders/ship"], ["Order/cancel", "MyOrder/ship"]],
    ["invoke:*/greet*", ["Any/greet", "Any/greeting"], ["Any/other"]],
    ["invoke:scope/tenant-a/*/*", ["scope/tenant-a/Order/ship"], [
      "Order/ship",
      "scope/tenant-ab/Order/ship",
    ]],
    ["invoke:scope/tenant-*/Order/*", ["scope/tenant-b/Order/ship"], ["scope/tenant-b/Greeter/a"]],
  ])("%s", (role, allowed, refused) => {
    const grants = grantsOf([role]);
    for (const path of allowed) expect(mayCall(grants, call(path)), path).toBe(true);
    for (const path of refused) expect(mayCall(grants, call(path)), path).toBe(false);
  });

  test.each([
    "Admin",
    "none",
    "",
    "invoke:",
    "invoke:Greeter",
    "invoke:Gr*ter/a",
    "invoke:a/b/c",
    "invoke:other/a/b/c",
    "invoke:scope/a/b",
    "invoke:/greet",
    "invoke:a/",
    "invoke:a/b c",
    "invoke:**/a",
  ])("%j is none", (role) => {
    expect(() => grantsOf([role])).toThrow(BadRole);
  });
});
