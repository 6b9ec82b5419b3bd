import { byteSize, count, countOrUnlimited, duration } from "./kinds.ts";
import { option } from "./option.ts";

/** A head with more lines is a mistake of whoever sets it. */
const HEAD_LINES_MOST = 10_000;

/** What connections of callers may hold. More of all would be memory that anybody can take. */
export const ingressConnectionOptions = {
  "ingress.connections-limit": option(countOrUnlimited(1), "200000", {
    doc:
      "Connections that are open at once, and no more than three quarters of the file descriptors. " +
      "Further ones are closed at once. This limit and the three below are not kept on Deno without " +
      "TLS, where connections are hidden.",
  }),
  "ingress.unread-answers-size-limit": option(byteSize(), "256MiB", {
    doc:
      "Bytes of answers that are written and not read by their clients. Beyond it, connections that " +
      "have not read for a second are closed, those with most first; at twice as much, any.",
  }),
  "ingress.unread-answers-size-limit-per-connection": option(byteSize(), "16MiB", {
    doc:
      "As `ingress.unread-answers-size-limit`, of one connection. Its further requests are answered " +
      "with 503 (HTTP/2) or wait (HTTP/1.1).",
  }),
  "ingress.unread-answers-timeout": option(duration(1), "1m", {
    doc: "How long an answer may wait while its client reads nothing of it. Then it is ended.",
  }),
  "ingress.head-size-limit": option(byteSize(1024), "128KiB", {
    doc:
      "Bytes of the head of a request: its target and headers. Beyond it: 431, or a stream that is " +
      "reset. Deno without TLS has limits of its own in place of this one and the two below.",
  }),
  "ingress.head-lines-limit": option(count(1, HEAD_LINES_MOST), "100", {
    doc: "Header lines of a request. Beyond it: 431.",
  }),
  "ingress.head-timeout": option(duration(1), "1m", {
    doc:
      "How long the head of a request may take to arrive. Beyond it: 408, or a connection that is " +
      "closed. Deno without TLS has neither this limit nor the next one.",
  }),
  "ingress.request-timeout": option(duration(1), "10m", {
    doc:
      "How long a request may take to arrive, from the first byte of its head to the last one of its " +
      "body, and at least `ingress.head-timeout`. Beyond it: 408, or a stream that is reset. How long a " +
      "caller waits for its answer is not limited.",
  }),
  "ingress.stream-resets-limit": option(countOrUnlimited(1), "600", {
    doc:
      "Streams of an HTTP/2 connection that may end in a reset at once; a twentieth of it may each " +
      "second. Beyond it the connection is closed. Node 20 keeps to 1000, whatever is set.",
  }),
};

/** The same of operators, of whom there are fewer. */
export const adminConnectionOptions = {
  "admin.connections-limit": option(countOrUnlimited(1), "2000", {
    doc: "As `ingress.connections-limit`, with a tenth of the file descriptors.",
  }),
  "admin.unread-answers-size-limit": option(byteSize(), "128MiB", {
    doc: "As `ingress.unread-answers-size-limit`.",
  }),
  "admin.unread-answers-size-limit-per-connection": option(byteSize(), "16MiB", {
    doc: "As `ingress.unread-answers-size-limit-per-connection`.",
  }),
  "admin.unread-answers-timeout": option(duration(1), "1m", {
    doc: "As `ingress.unread-answers-timeout`.",
  }),
  "admin.head-size-limit": option(byteSize(1024), "128KiB", {
    doc: "As `ingress.head-size-limit`.",
  }),
  "admin.head-lines-limit": option(count(1, HEAD_LINES_MOST), "100", {
    doc: "As `ingress.head-lines-limit`.",
  }),
  "admin.head-timeout": option(duration(1), "1m", {
    doc: "As `ingress.head-timeout`.",
  }),
  "admin.request-timeout": option(duration(1), "10m", {
    doc: "As `ingress.request-timeout`.",
  }),
  "admin.stream-resets-limit": option(countOrUnlimited(1), "600", {
    doc: "As `ingress.stream-resets-limit`.",
  }),
};
