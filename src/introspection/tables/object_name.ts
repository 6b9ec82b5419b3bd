import { type PushedKeys, quoteText, quoteTexts } from "./table.ts";

// Objects are stored as `Service/key` or `scope:Service/key`: see `objectOf` of the model. Scopes and
// names of services have neither slashes nor colons, keys may have both.

/** What is before the key: `Service` or `scope:Service`. */
const headOf = (object: string) => `substr(${object}, 1, instr(${object}, '/') - 1)`;

/** The scope of a stored object, null without one. `object`: SQL, as in what follows. */
export function scopeOf(object: string): string {
  const head = headOf(object);
  return `case when instr(${head}, ':') > 0 then substr(${head}, 1, instr(${head}, ':') - 1) end`;
}

/** The service of a stored object. */
export function serviceOf(object: string): string {
  return serviceIn(headOf(object));
}

/** The key of a stored object. */
export function keyOf(object: string): string {
  return `substr(${object}, instr(${object}, '/') + 1)`;
}

/** `Service/key` of a stored object. */
export function lockNameOf(object: string): string {
  return `substr(${object}, instr(${headOf(object)}, ':') + 1)`;
}

/** The object of the stored invocation `t`. Null for plain services. */
export const objectOfInvocation =
  "(coalesce((t.body ->> '$.target.scope') || ':', '') || t.service || '/' || t.key)";

function serviceIn(head: string): string {
  return `substr(${head}, instr(${head}, ':') + 1)`;
}

/** Columns of a table of objects by what they are: names of columns that conditions compare. */
export interface ObjectColumns {
  readonly service: string;
  readonly key: string;
  /** Absent: the table does not show scopes. */
  readonly scope?: string;
}

/**
 * A condition for objects of the wanted services, or for single objects when their keys are wanted as
 * well, that an index answers. `table`: which has them by `object`, in the order of an index.
 */
export function seekObject(
  table: string,
  { service, key, scope }: ObjectColumns,
): (pushed: PushedKeys) => string | undefined {
  return (pushed) => {
    const services = pushed.get(service);
    if (!services) return undefined;
    const scopes = scope === undefined ? undefined : pushed.get(scope);
    const heads = scopes ? headsIn(scopes, services) : headsOf(table, services);
    const keys = pushed.get(key);
    if (keys) {
      const list = keys.map((one) => `select h || ${quoteText(`/${one}`)} from heads`);
      return list.length === 0 ? "0" : `t.object in (${heads} ${list.join(" union all ")})`;
    }
    // "0" is what follows the slash. Without scopes that is all that there is of one service.
    return `t.object >= (${heads} select min(h || '/') from heads) and
      t.object < (${heads} select max(h || '0') from heads)`;
  };
}

function headsIn(scopes: readonly string[], services: readonly string[]): string {
  const all = scopes.flatMap((scope) => services.map((service) => `${scope}:${service}`));
  const values = all.map((one) => `(${quoteText(one)})`).join(", ");
  return `with heads(h) as (${all.length === 0 ? "select null where 0" : `values ${values}`})`;
}

/**
 * What is before the keys of the objects of these services. The index is asked for the next one each
 * time, so that it costs a few microseconds for each service in each scope.
 */
function headsOf(table: string, services: readonly string[]): string {
  const first = (condition: string) =>
    `(select ${headOf("o.object")} from ${table} as o ${condition} order by o.object limit 1)`;
  return `with recursive every(h) as (select ${first("")} union all
    select ${first("where o.object >= every.h || '0'")} from every where every.h is not null),
    heads(h) as (select h from every where ${serviceIn("h")} in ${quoteTexts(services)})`;
}
