import { refusals } from "./refusal_codes.ts";

/**
 * Every error code that a caller or operator can get (docs/spec/admin.md#error-codes). Adding one is
 * adding a row. `status`: how a request that fails with it is answered. `retry`: whether trying again,
 * unchanged, can succeed; such attempts are retried. `title` has no period; `fix` is one sentence.
 */
export const errors = {
  ...refusals,
  RT0001: {
    status: 500,
    retry: true,
    title: "The attempt was aborted after the abort timeout",
    fix:
      "Look for a handler that waits on something outside the journal, or raise `worker.invoker.abort-timeout`.",
  },
  RT0002: {
    status: 500,
    retry: false,
    title: "The configuration cannot be read",
    fix: "Correct the setting that the message names.",
  },
  RT0003: {
    status: 500,
    retry: true,
    title: "A message is larger than the limit",
    fix: "Send less at once, or raise `worker.invoker.message-size-limit`.",
  },
  RT0004: {
    status: 500,
    retry: false,
    title: "Cannot listen on the configured address",
    fix: "Stop the process that uses the port, or choose another port.",
  },
  RT0005: {
    status: 500,
    retry: false,
    title: "The data folder is in use by another process",
    fix: "Stop the other process, or point `base-dir` elsewhere.",
  },
  RT0006: {
    status: 500,
    retry: true,
    title: "Error while invoking the service",
    fix: "Read the message; the attempt is retried.",
  },
  RT0007: {
    status: 500,
    retry: true,
    title: "The handler failed with a retryable error",
    fix: "Read the handler's error; the invocation continues where it stopped.",
  },
  RT0009: {
    status: 500,
    retry: false,
    title: "The storage has no format version",
    fix: "Point `base-dir` at an empty folder or at one that this server made.",
  },
  RT0010: {
    status: 500,
    retry: true,
    title: "Network error talking to the endpoint",
    fix: "Check that the endpoint runs and can be reached.",
  },
  RT0011: {
    status: 500,
    retry: true,
    title: "No deployment serves this service",
    fix: "Register a deployment with the service.",
  },
  RT0012: {
    status: 500,
    retry: true,
    title: "Protocol violation by the endpoint",
    fix: "Check that an SDK endpoint answers at the address, and its version.",
  },
  RT0013: {
    status: 500,
    retry: true,
    title: "No common service protocol version",
    fix: "Register a deployment with a supported SDK.",
  },
  RT0014: {
    status: 500,
    retry: true,
    title: "The pinned protocol version is no longer supported",
    fix: "Finish the invocation on the server version that started it, or kill it.",
  },
  RT0015: {
    status: 500,
    retry: true,
    title: "The endpoint refuses the protocol version negotiated at discovery",
    fix: "Register the endpoint again as a new deployment.",
  },
  RT0016: {
    status: 500,
    retry: true,
    title: "Journal mismatch",
    fix: "Register changed code as a new deployment, and make the handler deterministic.",
  },
  RT0017: {
    status: 500,
    retry: true,
    title: "A command failed its precondition",
    fix: "Correct the handler; it is retried from the last stored entry.",
  },
  RT0018: {
    status: 500,
    retry: true,
    title: "The called service or handler does not exist",
    fix: "Register the callee; the attempt is retried.",
  },
  RT0019: {
    status: 500,
    retry: true,
    title: "The endpoint answered that the request is too large",
    fix: "Raise the limit of the endpoint or of the proxy in front of it.",
  },
  RT0020: {
    status: 400,
    retry: false,
    title: "The service is on a deployment with a deprecated protocol",
    fix: "Upgrade the SDK and register a new deployment.",
  },
  RT0021: {
    status: 200,
    retry: false,
    title: "The inactivity timeout is ignored in request-response mode",
    fix: "Remove the option, or serve over HTTP/2.",
  },
  RT0022: {
    status: 200,
    retry: false,
    title: "A retention was clamped to the server's maximum",
    fix: "Ask for a shorter one, or raise the server's maximum.",
  },
  RT0023: {
    status: 500,
    retry: true,
    title: "The endpoint is overloaded (429 or 503)",
    fix: "Give it capacity; `Retry-After` is obeyed.",
  },
  RT0024: {
    status: 400,
    retry: true,
    title: "Invalid use of flow control",
    fix: "Check scope and limit key, and that the feature is enabled.",
  },
  RT0025: {
    status: 500,
    retry: false,
    title: "Awaited futures are nested too deep",
    fix: "Flatten the combinators, then resume.",
  },
  RT0026: {
    status: 503,
    retry: true,
    title: "Too few file descriptors",
    fix:
      "Raise the limit: `ulimit -n 65536`, `LimitNOFILE=` of systemd, `--ulimit nofile=` of a container.",
  },
  RT0027: {
    status: 500,
    retry: false,
    title: "The data folder lacks data that was acknowledged",
    fix: "Put the missing file back or restore a backup; `--accept-loss` starts without the data.",
  },
  RT0028: {
    status: 500,
    retry: false,
    title: "A stored row is damaged",
    fix: "Run `perdure verify`, restore a backup; `--accept-loss` gives up unreadable commits.",
  },
  RT0029: {
    status: 500,
    retry: false,
    title: "The data folder was removed or replaced while the server ran",
    fix: "Put the folder back or restore a backup, then start the server again.",
  },
  RT0030: {
    status: 500,
    retry: false,
    title: "The address of this process does not lead to it",
    fix:
      "Correct `fleet.advertised-address`, or see `fleet.address-check-timeout` where a process cannot reach its own name.",
  },
  RT0031: {
    status: 500,
    retry: false,
    title: "The fleet has another secret",
    fix: "Give all processes the same `fleet.secret`; to change it, stop all of them first.",
  },
  RT0032: {
    status: 500,
    retry: false,
    title: "The journal of an invocation is too long",
    fix:
      "Have the handler continue in a new invocation, or raise `worker.invoker.journal-entries-limit`; then resume.",
  },
  RT0033: {
    status: 500,
    retry: true,
    title: "The server may not connect to the address of the deployment",
    fix:
      "Permit it with `outbound.allow`, or move the deployment to another address; the attempt is retried.",
  },
  RT0034: {
    status: 500,
    retry: false,
    title: "Processes of the fleet do not accept each other's certificates",
    fix:
      "Give each process a certificate of one authority (`fleet.tls.cert-file`, `fleet.tls.ca-file`).",
  },
  RT0035: {
    status: 500,
    retry: true,
    title: "The credentials for an endpoint cannot be had",
    fix:
      "Set the variable that the message names in each process, or have its token endpoint answer; the attempt is retried.",
  },
  RT0036: {
    status: 500,
    retry: false,
    title: "The encryption key does not fit the data folder",
    fix: "Correct `storage.encryption-key`; `perdure backup --to-key-file` copies to another key.",
  },
  RT0038: {
    status: 500,
    retry: false,
    title: "The server may not connect to an address of its settings",
    fix: "Permit it with `outbound.allow`, or correct the setting that the message names.",
  },
  RT0039: {
    status: 500,
    retry: false,
    title: "The executable cannot unpack its program",
    fix: "Name a folder that only this user may write into by the variable `PERDURE_UNPACK_DIR`.",
  },
} as const satisfies Record<
  string,
  { status: number; retry: boolean; title: string; fix: string }
>;

/** `META…`: refused by the admin API. `RT…`: met at start-up or by an attempt. */
export type Code = keyof typeof errors;
