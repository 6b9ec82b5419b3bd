import { describe, expect, test } from "vitest";
import { parseEgressRule } from "../../../src/config/egress_rule.ts";
import { ForbiddenAddress } from "../../../src/dial.ts";
import { Egress } from "../../../src/outbound/egress/egress.ts";
import { OwnPorts } from "../../../src/outbound/egress/own_ports.ts";

const rules = (texts: readonly string[]) => texts.map(parseEgressRule);

/** `resolved`: the address that the name of the URL resolves to. */
interface Case {
  readonly url: string;
  readonly resolved?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

function own(): OwnPorts {
  const ports = new OwnPorts(() => ["192.168.7.7", "fd12::7%eth0"]);
  ports.add("127.0.0.1", 8080);
  ports.add("0.0.0.0", 9070);
  ports.add("10.1.1.1", 5122);
  return ports;
}

/** Why a connection is refused, or "allowed". */
function verdict({ url, resolved, allow = [], deny = [] }: Case): string {
  const egress = new Egress({ allow: rules(allow), deny: rules(deny), own: own() });
  const { hostname: host, port, protocol } = new URL(url);
  const to = { host, port: Number(port || (protocol === "https:" ? 443 : 80)) };
  try {
    egress.checkHost(to);
    if (resolved !== undefined) egress.checkResolved(to, resolved);
    return "allowed";
  } catch (cause) {
    if (!(cause instanceof ForbiddenAddress)) throw cause;
    return cause.message;
  }
}

describe("by default", () => {
  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254./",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.16689662/",
    "http://%31%36%39.254.169.254/",
    "http://１６９.２５４.１６９.２５４/",
    "http://user:secret@169.254.169.254/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
    "http://[::169.254.169.254]/",
    "http://[::ffff:0:169.254.169.254]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://169.254.0.1:8000/",
    "http://[fe80::1]/",
    "http://[febf::1]/",
    "https://[fd00:ec2::254]/",
    "https://[FD00:0EC2:0::0254]/",
    "http://[fd20:ce::254]/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://metadata.google.internal/",
    "http://METADATA.google.internal./",
    "http://metadata.goog/",
  ])("%s is refused", (url) => {
    expect(verdict({ url })).toMatch(
      / is refused: .* an entry ".+" of outbound\.allow permits it$/,
    );
  });

  test.each([
    "http://127.0.0.1:9080/",
    "http://localhost:9080/",
    "http://0.0.0.0:9080/",
    "http://[::1]:9080/",
    "http://10.0.0.7/",
    "http://192.168.1.1:8080/",
    "http://172.16.0.1/",
    "http://[fd12::1]/",
    "http://100.64.0.1/",
    "https://example.com/",
    "http://169.253.255.255/",
    "http://169.255.0.0/",
    "http://[fec0::1]/",
    "http://100.100.100.201/",
    "http://metadata.google.internal.example.com/",
    "http://metadata:9080/",
    "http://[::ffff:10.0.0.1]/",
  ])("%s is allowed", (url) => {
    expect(verdict({ url })).toBe("allowed");
  });

  test("a name is refused by the address that it resolves to, which the message names", () => {
    expect(verdict({ url: "http://rebound.example/", resolved: "169.254.169.254" })).toBe(
      "169.254.169.254, which 'rebound.example' resolves to, is refused: a link-local address, " +
        'where clouds keep their metadata (169.254.0.0/16); an entry "169.254.169.254" of ' +
        "outbound.allow permits it",
    );
    expect(verdict({ url: "http://a.example/", resolved: "fe80::1%eth0" })).toContain("fe80::/10");
    expect(verdict({ url: "http://a.example/", resolved: "::ffff:169.254.1.1" }))
      .toContain("is refused");
    expect(verdict({ url: "http://a.example/", resolved: "93.184.216.34" })).toBe("allowed");
    expect(verdict({ url: "http://a.example/", resolved: "nonsense" })).toContain("no IP address");
  });
});

describe("the server's own ports", () => {
  test.each([
    "http://127.0.0.1:8080/",
    "http://127.9.9.9:8080/",
    "http://0.0.0.0:8080/",
    "http://[::1]:8080/",
    "http://[::]:8080/",
    "http://[::ffff:127.0.0.1]:8080/",
    "http://2130706433:8080/",
    "http://127.1:9070/",
    "http://192.168.7.7:9070/",
    "http://[fd12::7]:9070/",
    "http://[::ffff:192.168.7.7]:9070/",
    "http://10.1.1.1:5122/",
  ])("%s is refused", (url) => {
    expect(verdict({ url })).toMatch(/is refused: port \d+ is this server's own; an entry /);
  });

  test.each([
    "http://127.0.0.1:8081/",
    "http://192.168.7.7:8080/",
    "http://192.168.7.8:9070/",
    "http://10.1.1.2:5122/",
    "http://127.0.0.1:5122/",
  ])("%s is allowed: the server does not listen there", (url) => {
    expect(verdict({ url })).toBe("allowed");
  });

  test("a name is refused when it resolves to one of them", () => {
    const message = verdict({ url: "http://localhost:8080/", resolved: "127.0.0.1" });
    expect(message).toContain('an entry "127.0.0.1:8080" of outbound.allow');
    expect(verdict({ url: "http://localhost:8080/", resolved: "::1" }))
      .toContain('an entry "[::1]:8080" of outbound.allow');
  });

  test("only an entry with ports allows them", () => {
    const url = "http://127.0.0.1:8080/";
    expect(verdict({ url, allow: ["127.0.0.0/8"] })).toContain("this server's own");
    expect(verdict({ url, allow: ["127.0.0.1:8080"] })).toBe("allowed");
    expect(verdict({ url: "http://[::1]:8080/", allow: ["[::1]:8080"] })).toBe("allowed");
  });
});

describe("outbound.allow and outbound.deny", () => {
  const metadata = "http://169.254.169.254/";
  const cases: readonly (readonly [string, Case, boolean])[] = [
    ["an address lifts what is refused by default", {
      url: metadata,
      allow: ["169.254.169.254"],
    }, true],
    ["so does a network", { url: metadata, allow: ["169.254.0.0/16"] }, true],
    ["its port must fit", { url: metadata, allow: ["169.254.169.254:8080"] }, false],
    ["an IPv4 entry is about IPv6 that carries it", {
      url: "http://[64:ff9b::169.254.169.254]/",
      allow: ["169.254.169.254"],
    }, true],
    ["a name lifts a refused name", {
      url: "http://metadata.goog/",
      allow: ["metadata.goog"],
    }, true],
    ["a name lifts no refused network", {
      url: "http://a.example/",
      resolved: "169.254.169.254",
      allow: ["a.example"],
    }, false],
    ["a network lifts no refused name", {
      url: "http://metadata.goog/",
      allow: ["0.0.0.0/0"],
    }, false],
    ["* lifts nothing that is refused by default", { url: metadata, allow: ["*", "*:80"] }, false],
    ["a denied network", { url: "http://10.0.0.1/", deny: ["10.0.0.0/8"] }, false],
    ["an address beside it", { url: "http://11.0.0.1/", deny: ["10.0.0.0/8"] }, true],
    ["a denied network behind a name", {
      url: "http://a.example/",
      resolved: "10.0.0.1",
      deny: ["10.0.0.0/8"],
    }, false],
    ["an exception to it", {
      url: "http://10.0.0.1/",
      deny: ["10.0.0.0/8"],
      allow: ["10.0.0.1"],
    }, true],
    ["a denied name", { url: "http://b.a.example/", deny: ["b.a.example"] }, false],
    ["with a dot and in capitals", { url: "http://B.A.Example./", deny: ["b.a.example"] }, false],
    ["names below a denied one", { url: "http://c.b.a.example/", deny: ["*.a.example"] }, false],
    ["the name itself", { url: "http://a.example/", deny: ["*.a.example"] }, true],
    ["a name that only ends alike", { url: "http://ba.example/", deny: ["*.a.example"] }, true],
    ["a denied port", { url: "http://a.example:25/", deny: ["*:25"] }, false],
    ["another port", { url: "http://a.example:26/", deny: ["*:25"], resolved: "1.2.3.4" }, true],
    ["all but a name", {
      url: "https://api.example.com/",
      resolved: "1.2.3.4",
      deny: ["*"],
      allow: ["*.example.com:443"],
    }, true],
    ["that name at another port", {
      url: "http://api.example.com/",
      resolved: "1.2.3.4",
      deny: ["*"],
      allow: ["*.example.com:443"],
    }, false],
    ["all but a network", {
      url: "http://a.example/",
      resolved: "10.0.0.1",
      deny: ["*"],
      allow: ["10.0.0.0/8"],
    }, true],
    ["all but a port", {
      url: "https://a.example/",
      resolved: "10.0.0.1",
      deny: ["*"],
      allow: ["*:443"],
    }, true],
    ["an internationalized name", {
      url: "http://xn--bcher-kva.example/",
      deny: ["bücher.example"],
    }, false],
  ];
  test.each(cases.map(([name, ...more]) => [name, ...more] as const))(
    "%s",
    (_, { resolved = "203.0.113.1", ...given }, isAllowed) => {
      const isLiteral = /[\d\]]$/.test(new URL(given.url).hostname);
      const message = verdict({ ...given, ...(!isLiteral && { resolved }) });
      if (isAllowed) expect(message).toBe("allowed");
      else expect(message).toMatch(/is refused: .* of outbound\.allow permits it$/);
    },
  );

  test("what permits a name among none is that name", () => {
    expect(verdict({ url: "http://a.example/", resolved: "1.2.3.4", deny: ["*"] })).toBe(
      "1.2.3.4, which 'a.example' resolves to, is refused: entry \"*\" of outbound.deny; " +
        'an entry "a.example" of outbound.allow permits it',
    );
  });

  test("without a resolver, names are refused where everything is, unless they are allowed", () => {
    const egress = new Egress({ allow: rules(["a.example", "10.0.0.1"]), deny: rules(["*"]) });
    const to = (host: string) => () => egress.checkUnresolved({ host, port: 80 });
    expect(to("a.example")).not.toThrow();
    expect(to("10.0.0.1")).not.toThrow();
    expect(to("b.example")).toThrow(ForbiddenAddress);
    expect(to("10.0.0.2")).toThrow(ForbiddenAddress);
    expect(to("metadata.goog")).toThrow(ForbiddenAddress);
  });
});
