import { describe, expect, test } from "vitest";
import { dumpConfig, readConfig } from "../../src/config.ts";
import { BadEgressRule, parseEgressRule } from "../../src/config/egress_rule.ts";

const deny = (list: string) => () => readConfig({ env: { SVC_OUTBOUND__DENY: list } });

describe("outbound.allow and outbound.deny", () => {
  test("are read from each source, and dumped as they were given", () => {
    const file = '[outbound]\nallow = ["*.Example.com:443"]\n';
    const config = readConfig({
      file,
      args: ["--outbound.deny", '["10.0.0.0/8", "[fd00::/8]:80"]'],
    });
    expect(config["outbound.allow"]).toEqual([{
      text: "*.Example.com:443",
      target: { kind: "name", name: "example.com", isBelow: true },
      ports: [443, 443],
    }]);
    expect(config["outbound.deny"].map(({ text }) => text)).toEqual([
      "10.0.0.0/8",
      "[fd00::/8]:80",
    ]);
    const dumped = dumpConfig(config);
    expect(dumped).toContain(
      'allow = ["*.Example.com:443"]\ndeny = ["10.0.0.0/8", "[fd00::/8]:80"]',
    );
    expect(dumpConfig(readConfig({ file: dumped }))).toBe(dumped);
  });

  test.each([
    ["", 'it has no host; "*" stands for every host'],
    [":25", 'it has no host; "*" stands for every host'],
    ["https://a.example/", "it is a URL; give its host and port only"],
    ["10.0.0.1/8", 'a network begins with its first address: "10.0.0.0/8"'],
    ["fd00::1/8", 'a network begins with its first address: "fd00::/8"'],
    ["10.0.0.0/33", '"10.0.0.0/33" is no network, such as "10.0.0.0/8" or "fd00::/8"'],
    ["10/8", '"10/8" is no network, such as "10.0.0.0/8" or "fd00::/8"'],
    ["0x7f.1", "it is a spelling of the address 127.0.0.1; write that"],
    ["127.1", "it is a spelling of the address 127.0.0.1; write that"],
    ["a.example:0", '"0" is no port from 1 to 65535, and no range of them'],
    ["a.example:", '"" is no port from 1 to 65535, and no range of them'],
    ["a.example:99999", '"99999" is no port from 1 to 65535, and no range of them'],
    ["a.example:90-80", '"90-80" is no port from 1 to 65535, and no range of them'],
    ["[10.0.0.1]:80", "what stands in brackets is no IPv6 address or network"],
    ["a.*.example", '"*" stands alone, or in front as "*."'],
    ["*example", '"*" stands alone, or in front as "*."'],
    ["user@a.example", '"user@a.example" is no host name and no address'],
    ["a example", '"a example" is no host name and no address'],
  ])("an entry '%s' is refused, and the message says why", (entry, why) => {
    const place = "[RT0002] Cannot read SVC_OUTBOUND__DENY: entry";
    const list = JSON.stringify(["a.example", entry]);
    expect(deny(list)).toThrow(`${place} ${JSON.stringify(entry)}: ${why}`);
    expect(() => parseEgressRule(entry)).toThrow(BadEgressRule);
  });

  test("what is no list is refused", () => {
    expect(deny("10.0.0.0/8")).toThrow(
      '[RT0002] Cannot read SVC_OUTBOUND__DENY: "10.0.0.0/8" is not a list of hosts, networks and ' +
        'ports, such as ["*.example.com:443", "10.0.0.0/8", "*:25"]',
    );
  });

  test.each([
    ["*", undefined],
    ["*:25", [25, 25]],
    ["10.0.0.0/8:8000-8999", [8000, 8999]],
    ["fd00::1", undefined],
    ["[fd00::]/8:80", [80, 80]],
    ["[::1]", undefined],
    ["under_score.example", undefined],
  ])("an entry '%s' is read", (entry, ports) => {
    expect(parseEgressRule(entry).ports).toEqual(ports);
  });
});
