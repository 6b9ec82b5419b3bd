import type { Event } from "../../src/engine/event.ts";
import { targetOf } from "../support/schema.ts";

/** `t/0 3:counter/bob/add 5:greeter/hi settled=3 next=7`: an offset, and where its record goes. */
export function records(of: string, words: string[]): Event {
  const [topic = "", partition] = of.split("/");
  const option = (name: string) =>
    words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const records = words.filter((word) => !word.includes("=")).map((word) => {
    const colon = word.indexOf(":"), offset = Number(word.slice(0, colon));
    const id = partition === "0" ? `r${offset}` : `r${partition}.${offset}`;
    return { offset, request: recordRequest(id, word.slice(colon + 1)) };
  });
  const [first = 0, last = 0] = [records[0]?.offset, records.at(-1)?.offset];
  return {
    type: "ingested",
    source: { subscription: "sub_1", group: "g", topic, partition: Number(partition) },
    settled: Number(option("settled") ?? first),
    next: Number(option("next") ?? last + 1),
    records,
    reply: 1,
  };
}

/** The run of a workflow has the id of its key. */
function recordRequest(id: string, path: string) {
  const target = targetOf(path);
  const isRun = target.access === "run";
  return {
    id: isRun ? `run-${target.key}` : id,
    fresh: !isRun,
    target,
    headers: [],
    value: new TextEncoder().encode("in"),
    origin: { by: "subscription", id: "sub_1" },
    retention: { resultMs: 1000, journalMs: 1000 },
  } as const;
}
