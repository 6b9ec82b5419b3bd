import { QUEUE_HASH } from "../../model/queue.ts";

const { lanes, step } = QUEUE_HASH;
/** Hexadecimal digits of a step. */
const DIGITS = 2 * step;

/**
 * The id of a virtual queue as SQL, of the same parts as in `printQueueId`. Each is SQL: `scope`,
 * `limitKey` and `key` may be null. It takes about 8 µs for each row.
 */
export function queueIdOf(
  { service, scope, limitKey, key }: {
    readonly service: string;
    readonly scope: string;
    readonly limitKey: string;
    readonly key: string;
  },
): string {
  const text = `coalesce(${scope}, '') || ':' || coalesce(${limitKey}, '') || ':' || ` +
    `coalesce(${service} || '/' || ${key}, ${service})`;
  const names = lanes.map((_, i) => `h${i}`).join(", ");
  const mixed = lanes.map(({ prime, factor }, i) =>
    `(h${i} * ${factor} + ${stepAt("i")} % ${prime}) % ${prime}`
  );
  // A row of `q` is the state before the step at `i`. The first one computes the text, so that it is
  // computed once.
  return `(with recursive q(i, s, ${names}) as (
    select 1, hex(${text}), ${lanes.map(() => "0").join(", ")}
    union all select i + ${DIGITS}, s, ${mixed.join(", ")} from q where i < length(s))
    select printf('vq_10%010d00%010d%010d', ${names}) from q order by i desc limit 1)`;
}

/** The bytes from place `at` on as one number: as JSON5, which has hexadecimal ones. */
function stepAt(at: string): string {
  return `(('0x' || substr(s, ${at}, ${DIGITS})) ->> '$')`;
}

/** The id of the virtual queue of the stored invocation `t`. */
export const queueId = queueIdOf({
  service: "t.service",
  scope: "(t.body ->> '$.target.scope')",
  limitKey: "(t.body ->> '$.limitKey')",
  key: "t.key",
});
