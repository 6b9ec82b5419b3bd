import { count, duration, optionalText, optionalUrl, text } from "./kinds.ts";
import { option } from "./option.ts";

/** Sent in a header. Shorter secrets could be guessed. */
const SECRET = /^$|^[\x21-\x7e]{16,}$/;

const file = optionalText("the path of a file");

/** Settings of processes that share a database server (decision 032). */
export const fleetOptions = {
  "fleet.secret": option(
    optionalText("a text of at least 16 visible ASCII characters, or nothing", SECRET),
    "",
    {
      doc: "The secret that all processes of a fleet share. Empty: this process is alone.",
      secret: true,
    },
  ),
  "fleet.bind-address": option(text("an IP address or host name to listen on"), "127.0.0.1", {
    doc: "The address on which the other processes of the fleet are served. Never make it public.",
  }),
  "fleet.bind-port": option(count(0, 65_535), "5122", {
    doc: "The port on which the other processes are served. 0: any free port.",
  }),
  "fleet.advertised-address": option(optionalUrl(), "", {
    doc:
      "The URL at which the others reach this process, if not `fleet.bind-address` and its port.",
  }),
  "fleet.tls.cert-file": option(file, "", {
    doc:
      "The certificate of this process for the others, as PEM. With it they are served over TLS, " +
      "and it is shown to them. Read again when it changes.",
  }),
  "fleet.tls.key-file": option(file, "", {
    doc: "The private key of that certificate, as PEM.",
  }),
  "fleet.tls.ca-file": option(file, "", {
    doc: "The authorities of the fleet, as PEM: only processes with a certificate of theirs are " +
      "called and served. Empty: those of the system, and no process is asked for a certificate.",
  }),
  "fleet.address-check-timeout": option(duration(), "10s", {
    doc:
      "How long a start waits until this process is reached at its address, by itself and by the " +
      "others. Then RT0030 or RT0031. 0: not checked, where it cannot reach its own address.",
  }),
  "fleet.heartbeat-interval": option(duration(10), "1s", {
    doc: "How often a process writes its heartbeat to the database and reads those of the others.",
  }),
  "fleet.lease-duration": option(duration(100), "6s", {
    doc:
      "How long after its last heartbeat a process loses its partitions. At least three heartbeats.",
  }),
  "fleet.forward-timeout": option(duration(), "10s", {
    doc: "How long a request waits for a partition that is moving. Then it is answered with 503.",
  }),
} as const;
