import { expect, test } from "vitest";
import { parseEgressRule } from "../../../src/config/egress_rule.ts";
import { ForbiddenAddress } from "../../../src/dial.ts";
import { Egress } from "../../../src/outbound/egress/egress.ts";
import { spelledAddresses } from "../../../src/outbound/egress/spelled.ts";

test.each([
  ["169.254.169.254.nip.io", ["169.254.169.254"]],
  ["a.169.254.169.254.nip.io", ["169.254.169.254"]],
  ["1.169.254.169.254.nip.io", ["1.169.254.169", "169.254.169.254"]],
  ["app-169-254-169-254-b.sslip.io", ["169.254.169.254"]],
  ["169-254.169-254.example", ["169.254.169.254"]],
  ["a9fea9fe.nip.io", ["169.254.169.254"]],
  ["app-a9fea9fe.nip.io", ["169.254.169.254"]],
  ["fe80--1.sslip.io", ["fe80::1"]],
  ["fd00-ec2--254.sslip.io", ["fd00:ec2::254"]],
  ["999.254.169.254.example", []],
  ["1.2.3.example", []],
  ["v1.2.3.4567.example", []],
  ["a9fea9fe0.example", []],
  ["my--service.example", []],
  ["endpoint.example", []],
])("%s spells %j", (name, expected) => {
  expect(spelledAddresses(name).map(({ text }) => text)).toEqual(expected);
});

function verdict(host: string, settings: { allow?: string[]; deny?: string[] } = {}): string {
  const rules = (texts: string[] = []) => texts.map(parseEgressRule);
  const egress = new Egress({ allow: rules(settings.allow), deny: rules(settings.deny) });
  try {
    egress.checkUnresolved({ host, port: 80 });
    return "allowed";
  } catch (cause) {
    if (cause instanceof ForbiddenAddress) return cause.message;
    throw cause;
  }
}

test("a name that spells a refused address is refused, and an entry with the name permits it", () => {
  const host = "169.254.169.254.nip.io";
  expect(verdict(host)).toBe(
    "169.254.169.254, which '169.254.169.254.nip.io' spells, is refused: a link-local address, where " +
      `clouds keep their metadata (169.254.0.0/16); an entry "${host}" of outbound.allow permits it`,
  );
  expect(verdict(host, { allow: [host] })).toBe("allowed");
  expect(verdict(host, { allow: ["169.254.0.0/16"] })).toBe("allowed");
  expect(verdict("10.1.2.3.nip.io")).toBe("allowed");
  const deny = ["10.0.0.0/8"];
  expect(verdict("10.1.2.3.nip.io", { deny })).toContain('entry "10.0.0.0/8" of outbound.deny');
  expect(verdict("10.1.2.3.nip.io", { deny, allow: ["*.nip.io"] })).toBe("allowed");
  expect(verdict("11.1.2.3.nip.io", { deny })).toBe("allowed");
});
