import { choice, count, flag, optionalText } from "./kinds.ts";
import { option } from "./option.ts";

/** Sent in a header. Shorter ones could be guessed. */
const TOKEN = /^$|^[\x21-\x7e]{16,}$/;

/** Settings of Kafka clusters, subscriptions, and sidecars (docs/kafka.md). */
export const kafkaOptions = {
  "kafka.token": option(
    optionalText("a text of at least 16 visible ASCII characters, or nothing", TOKEN),
    "",
    {
      doc: "The token that sidecars show to the server. Empty: a random one, kept with the data, " +
        "for the sidecar that the server starts.",
      secret: true,
    },
  ),
  "kafka.sidecar": option(choice("auto", "off"), "auto", {
    doc:
      "`auto`: the server starts a sidecar as soon as there is a cluster, unless one is at work. " +
      "`off`: sidecars are started by others. Workers start none.",
  }),
  "kafka.allow-token-commands": option(flag(), "false", {
    doc: "Whether the sidecar that the server starts may run `sasl.oauthbearer.token.command`. " +
      "Such a command runs on this machine, and every client of the admin port can set one.",
  }),
  "kafka.clusters-limit": option(count(1), "1000", {
    doc: "How many Kafka clusters there may be. Creating one more is refused (409).",
  }),
  "kafka.subscriptions-limit": option(count(1), "10000", {
    doc: "How many subscriptions there may be. Creating one more is refused (409).",
  }),
} as const;
