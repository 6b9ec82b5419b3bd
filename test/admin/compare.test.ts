import { beforeAll, describe, expect, test } from "vitest";
import { hasReference, startTarget } from "../protocol/_target.ts";
import { BATCHES, DEPLOYMENTS, FAREWELL, INFO, QUERIES, SERVICES } from "./compare_admin.ts";
import { DIFFERENCES, type Pair } from "./compare_differences.ts";
import { INGRESS } from "./compare_ingress.ts";
import { INVOCATIONS } from "./compare_invocations.ts";
import { KAFKA } from "./compare_kafka.ts";
import { putAll } from "./compare_play.ts";
import { type CompareRequest, nameOf } from "./compare_request.ts";
import { QUEUES, RULES } from "./compare_rules.ts";

const PLAY_MS = 60_000;
const SHOWN_MAX = 500;
const REQUESTS: readonly CompareRequest[] = [
  INFO,
  DEPLOYMENTS,
  SERVICES,
  INGRESS,
  INVOCATIONS,
  BATCHES,
  QUERIES,
  RULES,
  QUEUES,
  KAFKA,
  FAREWELL,
].flat();

if (!hasReference()) console.warn("Not compared: there is no reference server here");

describe.skipIf(!hasReference())("the same requests to both servers", () => {
  let pairs: readonly Pair[] = [];
  beforeAll(async () => {
    const [ours, theirs] = await Promise.all([
      putAll("perdure", REQUESTS),
      putAll("reference", REQUESTS),
    ]);
    pairs = REQUESTS.flatMap((request, at) => {
      const [mine, other] = [ours[at], theirs[at]];
      return mine && other ? [{ request, ours: mine, theirs: other }] : [];
    });
  }, PLAY_MS);

  test("are answered alike, but for the differences that are meant", () => {
    const unmeant = pairs.filter((pair) => differs(pair) && explanation(pair) === undefined);
    expect(unmeant.map(print).join("\n")).toBe("");
  });

  test("show every difference that is meant", () => {
    const groups = DIFFERENCES.map(({ why }) => ({
      why,
      shown: pairs.filter((pair) => differs(pair) && explanation(pair) === why),
    }));
    // `COMPARE_OUTPUT=1` prints both answers of each.
    if (process.env["COMPARE_OUTPUT"] !== undefined) console.log(report(pairs, groups));
    expect(groups.filter(({ shown }) => shown.length === 0)).toEqual([]);
  });
});

describe.skipIf(!hasReference())("the description of the admin interface", () => {
  test("has every operation that the reference describes, with its name and parameters", async () => {
    const [ours, theirs] = await Promise.all([operations("perdure"), operations("reference")]);
    const missing = theirs.filter((one) => !ours.includes(one) && !OURS_HAVE_MORE.includes(one));
    expect(missing).toEqual([]);
  });
});

function differs({ ours, theirs }: Pair): boolean {
  return JSON.stringify(ours) !== JSON.stringify(theirs);
}

function explanation(pair: Pair): string | undefined {
  return DIFFERENCES.find(({ applies }) => applies(pair))?.why;
}

function print({ request, ours, theirs }: Pair): string {
  const [mine, other] = [ours, theirs].map((one) => JSON.stringify(one).slice(0, SHOWN_MAX));
  return `${nameOf(request)}\n    ours:   ${mine}\n    theirs: ${other}`;
}

interface Group {
  readonly why: string;
  readonly shown: readonly Pair[];
}

function report(all: readonly Pair[], groups: readonly Group[]): string {
  const same = all.filter((pair) => !differs(pair)).length;
  const texts = groups.map(({ why, shown }) =>
    `# ${why} (${shown.length})\n${shown.map(print).join("\n")}`
  );
  return [`${all.length} requests, ${same} answered alike`, ...texts].join("\n\n");
}

/** Operations to which we have added parameters. */
const OURS_HAVE_MORE: readonly string[] = [
  "delete /subscriptions/{subscription} delete_subscription subscription",
];

/** `get /deployments/{deployment} get_deployment deployment`, for each operation described. */
async function operations(kind: "perdure" | "reference"): Promise<string[]> {
  const target = await startTarget({}, kind);
  try {
    const { paths } = await (await fetch(`${target.admin}/openapi`)).json() as Described;
    return Object.entries(paths).flatMap(([path, { parameters: shared = [], ...methods }]) =>
      Object.entries(methods).map(([method, { operationId, parameters = [] }]) => {
        const names = [...shared, ...parameters].map(({ name }) => name).toSorted();
        return `${method} ${path} ${operationId} ${names.join(" ")}`;
      })
    );
  } finally {
    await target.close();
  }
}

interface Parameters {
  readonly parameters?: readonly { readonly name: string }[];
}

/** As much of an OpenAPI document as is compared. */
interface Described {
  readonly paths: Readonly<
    Record<
      string,
      Parameters & Readonly<Record<string, Parameters & { readonly operationId?: string }>>
    >
  >;
}
