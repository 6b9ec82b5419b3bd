import type { Language } from "./languages.ts";

const START = "```sh\nnpx perdure dev handlers.ts\n```";

/** The README of a project, of the page of the example. Throws `RangeError` for a page without a start. */
export function pageOf(page: string, language: Language, languageName: string): string {
  const plain = page.replaceAll(/<!-- run.*?-->\n\n/gs, "").replaceAll(
    /\[([^\]]+)\]\([^)]*\)/g,
    "$1",
  );
  if (!plain.includes(START)) throw new RangeError("Cannot write a README: the page has no start");
  const whole = plain.replace(START, () => startOf(language));
  const [title = "", ...rest] = whole.split("\n");
  const text = [title, "", testOf(language), ...rest].join("\n");
  if (languageName !== "deno") return text;
  return text.replaceAll("npx perdure", "deno task perdure")
    .replaceAll(/^node (\S+\.ts)/gm, "deno run --allow-net $1");
}

function testOf({ title, needs, install, test }: Language): string {
  return `${title}. It needs ${needs}. Install what it uses, and run its test:\n\n` +
    shell([...install, test]) + "\n\n## What it is";
}

function startOf({ serve, isHttp1 }: Language): string {
  if (serve === undefined) return START;
  const register = `npx perdure register http://127.0.0.1:9080${isHttp1 ? " --http1" : ""}`;
  return [
    "The server, with its UI on http://127.0.0.1:9070/ui/:",
    shell(["npx perdure serve"]),
    "In another terminal the handlers:",
    shell([serve]),
    "In a third one, once:",
    shell([register]),
  ].join("\n\n");
}

function shell(lines: readonly string[]): string {
  return ["```sh", ...lines, "```"].join("\n");
}
