import { define, type Infer } from "superstruct";
import type { Rule } from "../../model/limits.ts";
import { readPattern } from "../../model/rule_pattern.ts";
import type { Json } from "../json.ts";
import { limitFields, limitsRecord, parseRate } from "../limits_body.ts";
import {
  absent,
  described,
  fields,
  flag,
  maybe,
  textUpTo,
  wholeNumber,
  withDescription,
} from "../shapes.ts";
import type { Precondition, RuleEntry, RuleRemoval } from "./batch.ts";

/** The largest version that a client may expect. */
const VERSION_MAX = 2 ** 32 - 1;
/** Characters of the description of a rule: every process keeps all of them in memory. */
const DESCRIPTION_MAX = 4096;

const pattern = described(
  define<string>("pattern", (value) => {
    if (typeof value !== "string") return "expected a string";
    const read = readPattern(value);
    return "pattern" in read || read.problem;
  }),
  {
    type: "string",
    description: "One to three components, each exact or `*`: a scope, and levels of a limit key.",
    examples: ["*", "tenant/*", "tenant/api/burst"],
  },
);

const precondition = described(
  define<Precondition>("precondition", (value) => {
    if (typeof value !== "object" || value === null) return EXPECTED;
    const { type, version } = value as { readonly type?: unknown; readonly version?: unknown };
    if (type === "none" || type === "does_not_exist") return true;
    return type === "matches" && isVersion(version) || EXPECTED;
  }),
  {
    description: "What must hold of the rule, or the whole batch is refused.",
    oneOf: [
      { type: "object", properties: { type: { enum: ["none"] } }, required: ["type"] },
      { type: "object", properties: { type: { enum: ["does_not_exist"] } }, required: ["type"] },
      {
        type: "object",
        properties: {
          type: { enum: ["matches"] },
          version: { type: "integer", minimum: 0, maximum: VERSION_MAX },
        },
        required: ["type", "version"],
      },
    ],
  },
);

const EXPECTED = 'expected {"type": "none"}, {"type": "does_not_exist"} or ' +
  `{"type": "matches", "version": an integer from 0 to ${VERSION_MAX}}`;

function isVersion(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= VERSION_MAX;
}

/** An item of the body of `PUT /limits/rules` (docs/spec/admin.md#rules). */
export const upsertItem = fields({
  pattern,
  limits: withDescription(absent(fields(limitFields)), "Absent: unlimited."),
  disabled: withDescription(absent(flag), "Whether it is stored without having an effect."),
  description: withDescription(maybe(textUpTo(DESCRIPTION_MAX)), "For people."),
  precondition: absent(precondition),
});

/** An item of the body of `POST /limits/rules/bulk-delete`. */
export const deleteItem = fields({
  pattern,
  expected_version: withDescription(
    maybe(wholeNumber(0, VERSION_MAX)),
    "The rule must exist with this version, or the whole batch is refused.",
  ),
});

/**
 * Reads the entries of a batch. `knowsRates`: whether the client knows what only this server has. From
 * one that does not, an entry without a rate says nothing about it (docs/spec/admin.md#rules).
 */
export function parseEntries(
  body: readonly Infer<typeof upsertItem>[],
  { knowsRates }: { readonly knowsRates: boolean },
): RuleEntry[] {
  return body.map(({ pattern, limits = {}, disabled = false, description, precondition }) => ({
    pattern: canonical(pattern),
    limits: {
      ...(limits.concurrency != null && { concurrency: limits.concurrency }),
      ...(limits.rate != null && { rate: parseRate(limits.rate) }),
    },
    disabled,
    ...(description != null && { description }),
    precondition: precondition ?? { type: "none" },
    ...(!knowsRates && limits.rate === undefined && { keepsRate: true }),
  }));
}

export function parseRemovals(body: readonly Infer<typeof deleteItem>[]): RuleRemoval[] {
  return body.map(({ pattern, expected_version: version }) => ({
    pattern: canonical(pattern),
    ...(version != null && { expectedVersion: version }),
  }));
}

function canonical(text: string): string {
  const read = readPattern(text);
  return "pattern" in read ? read.pattern : text;
}

/** A rule as answers show it. What is absent of it is left out. */
export function ruleRecord({ modifiedAt, limits, ...rule }: Rule): Json {
  const { pattern, description, disabled, version } = rule;
  return {
    pattern,
    limits: limitsRecord(limits),
    description,
    disabled,
    version,
    last_modified_millis_since_epoch: modifiedAt,
  };
}
