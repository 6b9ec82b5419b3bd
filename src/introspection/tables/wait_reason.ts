import type { Awaited, WaitsFor } from "./wait_facts.ts";
import type { TableColumn } from "./table.ts";
import { WAITING_ON, WAITING_TABLES } from "./waiting_on.ts";

/** The sentence for what an invocation waits for. `{fact}`: a fact. `[…]`: left out where one is missing. */
const SENTENCES: Readonly<Record<Exclude<WaitsFor, "notification">, string>> = {
  start: "starts at {at}",
  lock: "waits for the lock of {lock}[ in scope {scope}][, which {holder} holds[ since {since}]]" +
    "[, place {place} of its queue]",
  slot: 'waits for a slot of [rule "{rule}" for ]{name} (level {level}, {used} of {limit} in use)' +
    "[, place {place} of its queue]",
  token: 'waits for the rate of [rule "{rule}" for ]{name} (level {level}, {limit} starts each ' +
    "{period_ms} ms), which allows the next one at {until}[, place {place} of its queue]",
  resume: "waits because {paused} {name} is paused",
  turn: "waits for its turn[, place {place} of its queue]",
  attempt: "waits for a slot of worker.invoker.concurrent-invocations-limit",
  retry: "waits until {at} for its next attempt[, after {failed} that failed][: {code}][ {error}]",
  letter: 'waits since {since} until its record is in the dead letter topic[ "{topic}"]' +
    "[, after {code}][ {error}]",
  operator: "is paused[ since {since}] until it is resumed[, after {code}][ {error}]",
};

/** The words for one of the notifications that a suspended invocation waits for. */
const AWAITED: Readonly<Record<Awaited, string>> = {
  sleep: "the end of its sleep at {until}",
  promise: 'promise "{name}"',
  call: "the result of {target}, {id}",
  awakeable: "awakeable {id}",
  signal: 'signal "{name}"',
  completion: "completion {index}",
};

/** A sentence as SQL. `json`: SQL with the facts. It is null where a fact outside of brackets is. */
function filled(sentence: string, json: string): string {
  const open: string[][] = [[]];
  for (const part of sentence.split(/(\{\w+\}|[[\]])/)) {
    if (part === "[") open.push([]);
    else if (part === "]") {
      const inner = open.pop();
      open.at(-1)?.push(`coalesce(${inner?.join(" || ")}, '')`);
    } else if (part.startsWith("{")) open.at(-1)?.push(`(${json} ->> '$.${part.slice(1, -1)}')`);
    else if (part !== "") open.at(-1)?.push(`'${part}'`);
  }
  return `(${open[0]?.join(" || ")})`;
}

function choice(of: string, sentences: Readonly<Record<string, string>>, json: string): string {
  const cases = Object.entries(sentences)
    .map(([word, sentence]) => `when '${word}' then ${filled(sentence, json)}`);
  return `case ${json} ->> '$.${of}' ${cases.join(" ")} end`;
}

const LIST = `(select group_concat(${choice("kind", AWAITED, "o.value")}, '; ')
  from json_each(fact.f, '$.on') as o)`;

/** How many notifications are awaited beyond those that the list names. */
const MORE = `iif(fact.f ->> '$.count' > json_array_length(fact.f, '$.on'),
  '; and ' || (fact.f ->> '$.count' - json_array_length(fact.f, '$.on')) || ' more', '')`;

const NOTIFICATION = `'waits for ' || coalesce(iif(fact.f ->> '$.count' = 1, '',
  (fact.f ->> '$.how') || ' of: ') || ${LIST} || ${MORE}, 'a notification')`;

/** Why it waits, as a sentence in SQL. The facts are computed once. */
const SENTENCE = `case when fact.f ->> '$.for' = 'notification' then ${NOTIFICATION}
  else ${choice("for", SENTENCES, "fact.f")} end`;

/** Why it waits, for programs and in a sentence (docs/spec/queries.md#why-it-waits). */
export const reasonColumns: readonly TableColumn[] = [
  {
    name: "waiting_on",
    type: "str",
    sql: `(with recursive ${WAITING_TABLES} select ${WAITING_ON})`,
  },
  {
    name: "waiting_reason",
    type: "str",
    sql:
      `(with recursive ${WAITING_TABLES}, fact(f) as (select ${WAITING_ON}) select ${SENTENCE} from fact)`,
  },
];
