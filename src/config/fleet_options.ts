import { count, duration, optionalText, optionalUrl, text } from "./kinds.ts";
import { option } from "./option.ts";

/** Goes into a header; shorter ones are guessed. */
const SECRET = /^$|^[\x21-\x7e]{16,}$/;

/** Settings of processes that share a database server (decision 032). */
export const fleetOptions = {
  "fleet.secret": option(
    optionalText("a text of at least 16 visible ASCII characters, or nothing", SECRET),
    "",
    {
      doc:
        "What the processes of a fleet show each other, the same for all. Empty: this one is alone.",
      secret: true,
    },
  ),
  "fleet.bind-address": option(text("an IP address or host name to listen on"), "127.0.0.1", {
    doc:
      "Where the other processes of the fleet are listened for. For them alone, never the public.",
  }),
  "fleet.bind-port": option(count(0, 65_535), "5122", {
    doc: "Port for the other processes. 0: any free one.",
  }),
  "fleet.advertised-address": option(optionalUrl(), "", {
    doc: "Where the others reach this process, if not at `fleet.bind-address` and its port.",
  }),
  "fleet.address-check-timeout": option(duration(), "10s", {
    doc:
      "How long a start waits until this process is reached at its address, by itself and by the " +
      "others. Then RT0030 or RT0031. 0: not checked, where it cannot reach its own address.",
  }),
  "fleet.heartbeat-interval": option(duration(10), "1s", {
    doc: "How often a process says in the database that it lives, and looks who else does.",
  }),
  "fleet.lease-duration": option(duration(100), "6s", {
    doc:
      "Silence after which the others take over what a process has. At least three heartbeats long.",
  }),
  "fleet.forward-timeout": option(duration(), "10s", {
    doc: "How long a request waits for a partition that is on the move. Then it gets a 503.",
  }),
} as const;
