import { type CompareRequest, many } from "./compare_request.ts";

const PUT = { method: "PUT", path: "/limits/rules" } as const;
const DELETE = { method: "POST", path: "/limits/rules/bulk-delete" } as const;

/** Bodies that are taken, in this order. */
const TAKEN: readonly (readonly unknown[])[] = [
  [],
  [{ pattern: "*", limits: { concurrency: 100 }, description: "global" }],
  [{ pattern: "*", limits: { concurrency: 100 }, description: "described otherwise" }],
  // The version of the book has grown, though that of the rule has not.
  [{ pattern: "a" }],
  [{ pattern: "a" }],
  [{ pattern: "b", disabled: true }],
  [{ pattern: "b" }],
  [{ pattern: "c" }, { pattern: "d" }, { pattern: "c", disabled: true }],
  [{ pattern: "e", limits: { concurrency: null, unknown: 1 }, description: null }],
  [{ pattern: "e", limits: { concurrency: 4294967295 }, precondition: { type: "none" } }],
  [{ pattern: "f", precondition: { type: "does_not_exist" } }],
  [{ pattern: "*", precondition: { type: "matches", version: 1 } }],
  [{ pattern: "a/" }, { pattern: " a / b " }, { pattern: "*/*/*" }, { pattern: "x".repeat(36) }],
];

/** Bodies that are refused, each with a rule before it that must not be stored. */
const REFUSED: readonly unknown[] = [
  { pattern: "b", precondition: { type: "does_not_exist" } },
  { pattern: "b", precondition: { type: "matches", version: 99 } },
  { pattern: "z", precondition: { type: "matches", version: 0 } },
  { pattern: "first", precondition: { type: "does_not_exist" } },
  { pattern: "z", precondition: { type: "matches" } },
  { pattern: "z", precondition: { type: "matches", version: -1 } },
  { pattern: "z", precondition: { type: "nope" } },
  { pattern: "z", precondition: null },
  { pattern: "z", limits: null },
  { pattern: "z", disabled: null },
  { pattern: "z", description: 5 },
  ...[0, -1, 4294967296, 1.5, "1"].map((concurrency) => ({
    pattern: "z",
    limits: { concurrency },
  })),
  ...["", " ", "/", "/*", "a//b", "a//", "a/b/c/d", "s*", "**", "a b", "é", "x".repeat(37)].map(
    (pattern) => ({ pattern }),
  ),
  {},
  1,
];

const BOOK =
  "select pattern, concurrency, description, disabled, version, last_modified from sys_rules";
const SHOW = { method: "POST", path: "/query", headers: { accept: "application/json" } } as const;

/** The rule book. Bodies with rates are ours alone, and not here. */
export const RULES: readonly CompareRequest[] = [
  ...TAKEN.map((body) => ({ ...PUT, body })),
  ...REFUSED.map((one) => ({ ...PUT, body: [{ pattern: "first" }, one] })),
  { ...PUT, body: {} },
  { ...PUT, text: "[" },
  { ...PUT, body: [], contentType: "text/plain" },
  { ...PUT, body: Array.from({ length: 10_001 }, (_, at) => ({ pattern: `many${at}` })) },
  ...many("GET", ["/limits/rules", "/limits/rules/bulk-delete"]),
  { ...SHOW, body: { query: BOOK } },
  ...[
    [],
    [{ pattern: "nope" }],
    [{ pattern: "d" }, { pattern: "b", expected_version: 99 }],
    [{ pattern: "d" }, { pattern: "nope", expected_version: 1 }],
    [{ pattern: "d" }, { pattern: "d", expected_version: 7 }],
    [{ pattern: "d/" }, { pattern: "d", expected_version: null }, { pattern: "d" }],
    [{ pattern: "a b" }],
    [{}],
  ].map((body) => ({ ...DELETE, body })),
  { ...PUT, body: [{ pattern: "d" }] },
  { ...SHOW, body: { query: BOOK } },
];

const IDS = [
  ...["foo", "vq_1", "vq_x", "vq_", "vq_2abc", "vq_17O4", `vq_1${"A".repeat(33)}`],
  "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo",
];

/** Virtual queues, none of which there is. */
export const QUEUES: readonly CompareRequest[] = [
  ...[...IDS, `vq_1${"0".repeat(33)}`].flatMap((id) =>
    many("POST", [`/vqueues/${id}/pause`, `/vqueues/${id}/resume`])
  ),
  { method: "GET", path: `/vqueues/vq_1${"0".repeat(33)}/pause` },
];
