/** Names that codes have of their own in messages: `[500 Internal]`, but `[409]` (http-api §6.1). */
const NAMES = {
  500: "Internal",
  570: "Journal mismatch",
  571: "Protocol violation",
} as const;

/** `[500] card declined`: how an invocation ended, by the number of the code alone (seen of the reference). */
export function outcomeText(code: string, message: string): string {
  return `'[' || ${code} || '] ' || coalesce(${message}, '')`;
}

/** `[409] card declined`: any other failure as people read it. `code` and `message`: SQL. */
export function failureText(code: string, message: string): string {
  const names = Object.entries(NAMES).map(([value, name]) => `when ${value} then '${name}'`);
  return `'[' || ${code} || coalesce(' ' || case ${code} ${names.join(" ")} end, '') || '] ' || ` +
    `coalesce(${message}, '')`;
}
