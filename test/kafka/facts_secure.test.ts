import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { PASSWORD } from "./broker/security.ts";
import { facts, LONG_KINDS } from "./_facts.ts";

const jars = await brokerTools();

for (const kind of LONG_KINDS) {
  describe.skipIf(jars === undefined)(`SASL over TLS with ${kind}`, () => {
    const on = facts(jars, kind, { broker: { isSecure: true } });
    const properties = (mechanism: string, password = PASSWORD) => ({
      "bootstrap.servers": on.broker.saslAddress,
      "security.protocol": "SASL_SSL",
      "sasl.mechanism": mechanism,
      "sasl.username": "user",
      "sasl.password": password,
      "ssl.ca.pem": on.broker.ca(),
    });

    test.each(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])("%s", async (mechanism) => {
      const topic = await on.topic(["v"]);
      const name = on.name();
      await on.admin("POST", "kafka-clusters", { name, properties: properties(mechanism) });
      await on.subscribe(topic, "Plain/take", { cluster: name });
      await on.sees(topic, 1);
      const shown = await on.admin("GET", `kafka-clusters/${name}`);
      expect(JSON.stringify(shown)).not.toContain(PASSWORD);
    });

    test("a wrong password disturbs no other, and is helped by a PATCH", async () => {
      const topic = await on.topic(["v"]);
      const name = on.name();
      const wrong = properties("PLAIN", "wrong-secret");
      await on.admin("POST", "kafka-clusters", { name, properties: wrong });
      await on.subscribe(topic, "Plain/take", { cluster: name });
      const other = await on.topic(["w"]);
      await on.subscribe(other, "Plain/take");
      await on.sees(other, 1);
      expect(on.seen(topic)).toEqual([]);
      await on.admin("PATCH", `kafka-clusters/${name}`, { properties: properties("PLAIN") });
      await on.sees(topic, 1);
    });
  });
}
