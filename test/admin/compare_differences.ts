import type { Compared } from "./compare_play.ts";
import { type CompareRequest, nameOf } from "./compare_request.ts";

/** Two answers to one request. */
export interface Pair {
  readonly request: CompareRequest;
  readonly ours: Compared;
  readonly theirs: Compared;
}

/** A difference that is meant, and the decision that says so. */
export interface Difference {
  readonly why: string;
  readonly applies: (pair: Pair) => boolean;
}

function named(pattern: RegExp): (pair: Pair) => boolean {
  return ({ request }) => pattern.test(nameOf(request));
}

function statuses(ours: number, theirs: number): (pair: Pair) => boolean {
  return (pair) => pair.ours.status === ours && pair.theirs.status === theirs;
}

function member(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;
}

const isRefusedByBoth = ({ ours, theirs }: Pair) =>
  ours.status === theirs.status && Number(ours.status) >= 400;
/** Everything but the words is the same: status, headers, code, who says it. */
const areWordsOnly = (pair: Pair) =>
  isRefusedByBoth(pair) &&
  JSON.stringify(pair.ours.headers) === JSON.stringify(pair.theirs.headers) &&
  ["svc_code", "code", "source"].every((name) =>
    member(pair.ours.body, name) === member(pair.theirs.body, name)
  );

/**
 * Every difference between the two servers, by the first that applies. A difference without an entry
 * fails the test, and so does an entry without a difference.
 */
export const DIFFERENCES: readonly Difference[] = [
  {
    why:
      "decision (docs/spec/admin.md#version-and-health): the version says both what it speaks and what it is",
    applies: named(/^GET (\/v2)?\/version$/),
  },
  {
    why:
      "issue 4: one error shape, {message, svc_code}, where the reference says a text or nothing",
    applies: (pair) =>
      isRefusedByBoth(pair) && pair.ours.headers["content-type"] === "application/json" &&
      pair.theirs.headers["content-type"] !== "application/json",
  },
  {
    why: "a statement that does not fit the tables is the caller's fault, not ours",
    applies: (pair) => named(/^POST \/query/)(pair) && statuses(400, 500)(pair),
  },
  {
    why: "issue 4: one error shape, of queries too, where the reference leaves the code out",
    applies: (pair) =>
      isRefusedByBoth(pair) && pair.request.path === "/query" &&
      member(pair.ours.body, "svc_code") === null &&
      member(pair.theirs.body, "svc_code") === undefined,
  },
  {
    why:
      "decision (docs/spec/ingress.md#attach-output-and-lookup): output that is not there is exactly not ready or not found",
    applies: (pair) =>
      isRefusedByBoth(pair) && [404, 470].includes(Number(pair.ours.status)) &&
      /output/.test(pair.request.path),
  },
  {
    why:
      "decision (docs/spec/ingress.md#attach-output-and-lookup): a malformed target object is the caller's fault, not ours",
    applies: (pair) =>
      named(/^ingress POST \/(lookup|output|attach)/)(pair) && statuses(400, 500)(pair),
  },
  {
    why: "decision (docs/spec/ingress.md#workflows): the documented words of a second submission",
    applies: named(/^ingress POST \/call\/Flow\/a\/run/),
  },
  { why: "the same refusal in other words", applies: areWordsOnly },
  {
    why: "a conflict with what is registered has the code that says so, META0004",
    applies: named(/^POST \/v2\/deployments .*"force":false/),
  },
  {
    why: "decision 039: PUT updates in place, under every version",
    applies: named(/^PUT \/deployments\//),
  },
  {
    why: "a field of the wrong type is refused, not ignored as if it were for a function",
    applies: named(/^PATCH \/deployments\/\$deployment {"uri":1}/),
  },
  {
    why:
      "decision (docs/spec/admin.md#deletion-of-a-deployment): DELETE without force deletes what nothing needs, or says why",
    applies: (pair) => named(/^DELETE \/deployments\//)(pair) && pair.theirs.status === 501,
  },
  {
    why: "a scope that cannot be is the caller's fault: 400, not 500",
    applies: (pair) => named(/"scope":"bad scope"/)(pair) && statuses(400, 500)(pair),
  },
  {
    why: "the state of a service that does not exist cannot be cleared",
    applies: named(/^POST \/services\/Nope\/state .*"new_state":{}/),
  },
  {
    why: "decision 021: descriptions, and examples of the errors above, are in words of ours",
    applies: named(/^GET \/services\/Greeter\/openapi/),
  },
  {
    why: "an unknown cluster of a source has the code of the specification, META0009",
    applies: (pair) => named(/^POST \/subscriptions/)(pair) && /zz/.test(nameOf(pair.request)),
  },
  {
    why: "a subscription shows its state, its last error and how far it is",
    applies: (pair) => named(/^GET \/subscriptions\/\$sub/)(pair) && statuses(200, 200)(pair),
  },
];
