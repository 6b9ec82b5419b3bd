import { expect, test } from "vitest";
import { adminSettings } from "../../src/admin/settings.ts";
import { readConfig } from "../../src/config.ts";
import { schemaDefaults } from "../../src/config/schema_defaults.ts";
import { outboundSettings } from "../../src/outbound/settings.ts";

const PREFIX = "SVC_EXPERIMENTAL_ENABLE_";

/** What follows from the features that are switched on. */
function withFeatures(...names: readonly string[]) {
  const env = Object.fromEntries(names.map((name) => [`${PREFIX}${name}`, "true"]));
  const config = readConfig({ env });
  return {
    flowControl: schemaDefaults(config).flowControl,
    protocolMax: outboundSettings(config).protocolMax,
    features: adminSettings(config).features,
  };
}

test("no experimental feature is on by default", () => {
  expect(withFeatures()).toEqual({ flowControl: undefined, protocolMax: 6, features: [] });
});

test("flow control brings protocol version 7, in which handlers see scopes", () => {
  expect(withFeatures("VQUEUES")).toEqual({
    flowControl: { scopes: true, scopedObjects: false },
    protocolMax: 7,
    features: ["vqueues", "protocol_v7"],
  });
});

test("protocol version 7 alone brings no scopes", () => {
  expect(withFeatures("PROTOCOL_V7")).toEqual({
    flowControl: undefined,
    protocolMax: 7,
    features: ["protocol_v7"],
  });
});

test("objects take scopes by a switch of their own, which alone does nothing", () => {
  expect(withFeatures("VQUEUES", "SCOPED_VIRTUAL_OBJECTS", "KAFKA_SCOPE")).toEqual({
    flowControl: { scopes: true, scopedObjects: true },
    protocolMax: 7,
    features: ["vqueues", "protocol_v7", "scoped_virtual_objects", "kafka_scope"],
  });
  expect(withFeatures("SCOPED_VIRTUAL_OBJECTS")).toEqual({
    flowControl: undefined,
    protocolMax: 6,
    features: ["scoped_virtual_objects"],
  });
});
