/**
 * Codes of what the admin API refuses, as part of `error_codes.ts`, which says what the fields mean. Some
 * are met at start-up as well.
 */
export const refusals = {
  META0003: {
    status: 500,
    retry: true,
    title: "Cannot reach the endpoint for discovery",
    fix: "Check the address, the endpoint, the network and authentication (`additional_headers`).",
  },
  META0004: {
    status: 409,
    retry: false,
    title: "A deployment with this address is registered and serves something else",
    fix: "Register the new code under a new address, or repeat with `force: true`.",
  },
  META0005: {
    status: 400,
    retry: false,
    title: "Service metadata cannot be used",
    fix: "Rename the service: names that begin with a reserved word are not allowed.",
  },
  META0006: {
    status: 409,
    retry: false,
    title: "A service changed its type",
    fix: "Keep the type, rename the service, or repeat with `breaking: true`.",
  },
  META0009: {
    status: 400,
    retry: false,
    title: "Invalid subscription",
    fix: "Check the source and sink addresses, and that cluster, service and handler exist.",
  },
  META0010: {
    status: 500,
    retry: false,
    title: "The data folder was made by an incompatible version",
    fix: "Start the version that made it, or point `base-dir` at another folder.",
  },
  META0011: {
    status: 500,
    retry: false,
    title: "The data folder is not empty and has no version file",
    fix: "Point `base-dir` at an empty folder or at one that this server made.",
  },
  META0012: {
    status: 500,
    retry: false,
    title: "No common service protocol version",
    fix: "Upgrade the SDK, then register again.",
  },
  META0013: {
    status: 500,
    retry: false,
    title: "Bad discovery response",
    fix: "Check that the address is that of an SDK endpoint, and that its SDK is supported.",
  },
  META0014: {
    status: 500,
    retry: false,
    title: "The endpoint speaks HTTP/1.1",
    fix: "Register again with `use_http_11: true`.",
  },
  META0015: {
    status: 500,
    retry: false,
    title: "Bidirectional mode over a transport that lacks it",
    fix: "Let the endpoint announce request-response mode.",
  },
  META0016: {
    status: 400,
    retry: false,
    title: "Update in place refused",
    fix: "Keep services, handlers, types and protocol versions, or register a new deployment.",
  },
  META0017: {
    status: 409,
    retry: false,
    title: "Several deployments share this address",
    fix: "Delete all but one of them first.",
  },
  META0018: {
    status: 400,
    retry: false,
    title: "The server may not connect to this address",
    fix: "Register another address, or permit this one with `outbound.allow`.",
  },
  META0019: {
    status: 400,
    retry: false,
    title: "The server cannot show an endpoint what its deployment asks for",
    fix:
      "Set what the message names: a variable of the server's environment, or the key of tokens.",
  },
  META0021: {
    status: 400,
    retry: false,
    title: "A session of the web UI cannot begin, has ended, or is not for this request",
    fix: "Sign in again, on a page of this server; programs send their token in a header.",
  },
} as const;
