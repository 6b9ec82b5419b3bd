/** One fenced block of a page, with the directive in front of it. */
export interface Block {
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly directive: Directive | undefined;
}

/** What a page may have run beside its commands: this server, a libSQL server, the Worker, a broker. */
export type Beside = "server" | "sqld" | "workerd" | "kafka";

/** What `<!-- run: … -->` in front of a block, or alone, asks for. */
export type Directive =
  | { readonly kind: Beside }
  | { readonly kind: "skip"; readonly reason: string }
  | {
    readonly kind: "background";
    readonly ports: readonly number[];
    readonly prints: string | undefined;
  }
  | { readonly kind: "fails" }
  | { readonly kind: "retry" };

/** What a page asks to be done, in its order. */
export type Step =
  | { readonly kind: Beside; readonly line: number }
  | { readonly kind: "skip"; readonly line: number; readonly reason: string }
  | { readonly kind: "file"; readonly line: number; readonly path: string; readonly text: string }
  | {
    readonly kind: "shell";
    readonly line: number;
    readonly text: string;
    readonly how: "runs" | "fails" | "retry" | "background";
    /** Of a command in the background: the ports that it listens on once it is ready. */
    readonly ports?: readonly number[];
    /** The same: what it prints then. */
    readonly prints?: string | undefined;
    /** The block of output right behind the command. */
    readonly expected?: string;
  };

const FENCE = /^( *)```(\w*)\s*$/;
const DIRECTIVE = /^<!-- run: (.+) -->$/;
const FILE_NAME = /^(?:\/\/|#|--) ([\w./-]+\.\w+)\n/;
const SHELL: ReadonlySet<string> = new Set(["sh", "bash"]);
/** Questions of docs/sql.md, which need rows: `test/introspection/page.test.ts` asks them. */
const ASKED_ELSEWHERE = "sql";
const OUTPUT: ReadonlySet<string> = new Set(["json", "text"]);
const BESIDE: ReadonlySet<string> = new Set<Beside>(["server", "sqld", "workerd", "kafka"]);

/**
 * Reads the steps of a page in Markdown. Blocks without a language are pictures and not steps. Throws
 * for a block that is neither a command, nor a named file, nor the output of a command, unless it is
 * marked as not run.
 */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  for (const part of partsOf(markdown)) {
    if (!("language" in part)) {
      steps.push(part);
      continue;
    }
    const { line, language, text, directive } = part;
    if (language === ASKED_ELSEWHERE) continue;
    const last = steps.at(-1);
    const name = FILE_NAME.exec(text)?.[1];
    if (directive?.kind === "skip") steps.push({ kind: "skip", line, reason: directive.reason });
    else if (SHELL.has(language)) steps.push(shell(part));
    else if (OUTPUT.has(language) && part.isBehind && last?.kind === "shell") {
      steps[steps.length - 1] = { ...last, expected: text };
    } else if (name !== undefined) steps.push({ kind: "file", line, path: name, text });
    else if (!OUTPUT.has(language) || !part.isBehind || last?.kind !== "skip") {
      throw new Error(
        `Line ${line}: a block of ${language} is not run: name its file in a comment on its first ` +
          "line, or put <!-- run: skip: reason --> in front of it",
      );
    }
  }
  return steps;
}

function shell({ line, text, directive }: Block): Step {
  const step = { kind: "shell", line, text } as const;
  if (directive?.kind !== "background") {
    return {
      ...step,
      how: directive?.kind === "fails" || directive?.kind === "retry" ? directive.kind : "runs",
    };
  }
  return { ...step, how: "background", ports: directive.ports, prints: directive.prints };
}

/** `isBehind`: nothing but empty lines is between it and the block before. */
type Part =
  | (Block & { readonly isBehind: boolean })
  | { readonly kind: Beside; readonly line: number };

function* partsOf(markdown: string): Generator<Part> {
  const lines = markdown.split("\n");
  let directive: Directive | undefined;
  let isBehind = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const fence = FENCE.exec(line);
    const given = DIRECTIVE.exec(line.trim());
    if (fence) {
      const [, indent = "", language = ""] = fence;
      const end = lines.indexOf(`${indent}\`\`\``, at + 1);
      if (end < 0) throw new Error(`Line ${at + 1}: the block has no end`);
      const text = lines.slice(at + 1, end).map((one) => `${one.slice(indent.length)}\n`).join("");
      if (language !== "") yield { line: at + 1, language, text, directive, isBehind };
      [directive, isBehind, at] = [undefined, true, end];
    } else if (given) {
      directive = directiveOf(given[1] ?? "", at + 1);
      if (isBeside(directive)) {
        yield { kind: directive.kind, line: at + 1 };
        directive = undefined;
      }
      isBehind = false;
    } else if (line.trim() !== "" && !line.startsWith("<!--")) {
      if (directive) throw new Error(`Line ${at + 1}: a directive is followed by no block`);
      isBehind = false;
    }
  }
}

function directiveOf(text: string, line: number): Directive {
  const skip = /^skip: (.+)$/.exec(text);
  if (skip?.[1]) return { kind: "skip", reason: skip[1] };
  const background = /^background(?: until (?:([\d, ]+) listens?|"(.+)"))?$/.exec(text);
  if (background) {
    const [, ports = "", prints] = background;
    return { kind: "background", ports: (ports.match(/\d+/g) ?? []).map(Number), prints };
  }
  if (text === "fails" || text === "retry") return { kind: text };
  const beside = { kind: text } as Directive;
  if (isBeside(beside)) return beside;
  throw new Error(`Line ${line}: there is no directive "${text}"`);
}

function isBeside(directive: Directive): directive is { readonly kind: Beside } {
  return BESIDE.has(directive.kind);
}
