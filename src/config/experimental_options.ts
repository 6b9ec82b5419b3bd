import { flag } from "./kinds.ts";
import { option } from "./option.ts";

/**
 * Experimental features, off by default. `GET /version` reports them
 * (docs/spec/admin.md#version-and-health). Each can be switched on and off over existing data.
 */
export const experimentalOptions = {
  "experimental-enable-vqueues": option(flag(), "false", {
    doc: "Whether calls may have a scope and a limit key. Handlers see them: it implies " +
      "`experimental-enable-protocol-v7`.",
  }),
  "experimental-enable-scoped-virtual-objects": option(flag(), "false", {
    doc: "Whether calls of virtual objects may have a scope, too.",
  }),
  "experimental-enable-kafka-scope": option(flag(), "false", {
    doc: "Whether a Kafka record may set the scope and the limit key of its call by its headers.",
  }),
  "experimental-enable-protocol-v7": option(flag(), "false", {
    doc: "Whether protocol version 7 is used with services that support 6 as well.",
  }),
};
