import { OWN } from "../../names.ts";
import { inSlices, jsonInSteps } from "../../slices.ts";
import type { Registry } from "../registry.ts";
import { ref } from "../openapi/answers.ts";
import { dialectsOf, reply, replyJson } from "../reply.ts";
import { type RouteDoc, type Routes, withItems } from "../route.ts";
import { deleteItem, parseEntries, parseRemovals, ruleRecord, upsertItem } from "./rule_body.ts";

const tag = "rule";

const UPSERT: RouteDoc = {
  id: "upsert_rules",
  tag,
  summary: "Make or replace rules, all of them or none",
  answers: {
    200: ["The rules as they are now, in the order of the request", {
      type: "array",
      items: ref("RuleResponse"),
    }],
  },
  refusals: [409, 503],
};
const DELETE: RouteDoc = {
  id: "bulk_delete_rules",
  tag,
  summary: "Remove rules, all of them or none",
  answers: {
    200: ["The patterns of the rules that were removed", {
      type: "array",
      items: { type: "string" },
    }],
  },
  refusals: [409, 503],
};

/** What the routes of rules need. */
export interface RuleDeps {
  readonly registry: Registry;
  /** As in `Clock`. */
  readonly soon: (call: () => void) => void;
}

/** The routes of the rule book (docs/spec/admin.md#rules). */
export function ruleRoutes({ registry, soon }: RuleDeps): Routes {
  const { controls } = registry;
  return {
    "/limits/rules": {
      PUT: withItems(UPSERT, { item: upsertItem, soon }, async ({ request, audited }, items) => {
        audited.noteAll("patterns", items.map(({ pattern }) => pattern));
        const knowsRates = dialectsOf(request.headers).includes(OWN);
        const rules = await controls.upsertRules(parseEntries(items, { knowsRates }));
        return replyJson(200, await inSlices(jsonInSteps(rules.map(ruleRecord), 1), soon));
      }),
    },
    "/limits/rules/bulk-delete": {
      POST: withItems(DELETE, { item: deleteItem, soon }, async ({ audited }, items) => {
        audited.noteAll("patterns", items.map(({ pattern }) => pattern));
        return reply(200, await controls.removeRules(parseRemovals(items)));
      }),
    },
  };
}
