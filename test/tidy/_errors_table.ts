import { errors } from "../../src/error_codes.ts";

/** The table of error codes in docs/errors.md. A test keeps the two the same. */
export function describeErrors(): string {
  const rows = Object.entries(errors).map(([code, { status, retry, title, fix }]) => {
    // A code of an attempt is recorded on the invocation; no request is answered with it.
    const answer = code.startsWith("META") ? status : "";
    return `| ${code} | ${answer} | ${retry ? "yes" : "no"} | ${title} | ${fix} |`;
  });
  return [
    "| Code | Status | Retry | What happened | What to do |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
