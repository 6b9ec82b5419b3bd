/** House rules a machine can hold us to. `tidy.test.ts` shows each one what it must refuse. */
import { knownConnections } from "./connections.lint.ts";
import { LAYERS, placeIn, rankOf } from "./layers.ts";

type Context = Deno.lint.RuleContext;
type Rule = Deno.lint.Rule;

/** The engine is narrower than its layer, so that nothing but rows and events can move it. */
const ENGINE_IMPORTS = ["engine", "model", "assert"];
/** Everybody may speak the engine's words (types); only these may make it do something. */
const ENGINE_RUNNERS = ["engine", "partition", "app"];

const FUNCTION_LINES_MAX = 40;
const FILE_LINES_MAX = 300;

const CLOCK_AND_CHANCE = [
  "Date",
  "Temporal",
  "crypto",
  "fetch",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "console",
  "performance",
  "globalThis",
  "Promise",
];
const RUNTIMES = ["Deno", "process", "Buffer", "require", "global", "__dirname", "__filename"];
const RUNTIME_MODULE = /^(node|cloudflare|bun):/;

/** The folder or file right under `src/` that a path belongs to, or undefined outside `src/`. */
function areaOf(path: string): string | undefined {
  return placeIn("src", path);
}

/** An import of a file in another place of the same folder. */
interface Step {
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly typesOnly: boolean;
}

/** Why `from` may not import `to`, or undefined when it may. */
function refusal({ folder, from, to, typesOnly }: Step): string | undefined {
  if (from === to) return undefined;
  if (rankOf(folder, from) < 0) return `"${folder}/${from}" has no place in the order of layers`;
  const rank = rankOf(folder, to);
  if (rank < 0 || rank >= rankOf(folder, from)) return `${from} must not import ${to}`;
  return folder === "src" ? engineRefusal(from, to, typesOnly) : undefined;
}

function engineRefusal(from: string, to: string, typesOnly: boolean): string | undefined {
  if (from === "engine" && !ENGINE_IMPORTS.includes(to)) return `engine must not import ${to}`;
  if (to === "engine" && !typesOnly && !ENGINE_RUNNERS.includes(from)) {
    return `${from} may import types of the engine, nothing that runs`;
  }
  return undefined;
}

/** Calls `visit` for every module named by an import, a re-export or a dynamic import. */
function onModules(
  visit: (node: Deno.lint.Node, specifier: string, typesOnly: boolean) => void,
): Deno.lint.LintVisitor {
  return {
    ImportDeclaration(node) {
      const all = node.specifiers.length > 0 &&
        node.specifiers.every((one) => one.type === "ImportSpecifier" && one.importKind === "type");
      visit(node, node.source.value, node.importKind === "type" || all);
    },
    ExportNamedDeclaration(node) {
      if (node.source) visit(node, String(node.source.value), node.exportKind === "type");
    },
    ExportAllDeclaration(node) {
      visit(node, node.source.value, node.exportKind === "type");
    },
    ImportExpression(node) {
      if (node.source.type === "Literal") visit(node, String(node.source.value), false);
    },
  };
}

const inwardImports: Rule = {
  create(context: Context) {
    const folders = Object.keys(LAYERS).filter((folder) => placeIn(folder, context.filename));
    return onModules((node, specifier, typesOnly) => {
      if (!specifier.startsWith(".")) return;
      const path = new URL(specifier, `file://${context.filename}`).pathname;
      for (const folder of folders) {
        const [from, to] = [placeIn(folder, context.filename)!, placeIn(folder, path)];
        const message = to !== undefined
          ? refusal({ folder, from, to, typesOnly })
          : folder === "src"
          ? `src must not import "${specifier}" from outside src`
          : undefined;
        const hint = `Imports point inward: ${folder}/README.md`;
        if (message) context.report({ node, message, hint });
      }
    });
  },
};

/** Whether an identifier stands for a value, and is not just a name written after a dot or a key. */
function isReference(node: Deno.lint.Identifier): boolean {
  const { parent } = node as unknown as { parent: Record<string, unknown> };
  switch (parent["type"]) {
    case "MemberExpression":
      return parent["object"] === node || parent["computed"] === true;
    case "Property":
    case "PropertyDefinition":
    case "MethodDefinition":
    case "TSPropertySignature":
    case "TSMethodSignature":
      return parent["value"] === node || parent["computed"] === true;
    case "ImportSpecifier":
    case "ExportSpecifier":
    case "LabeledStatement":
      return false;
    default:
      return true;
  }
}

const pureEngine: Rule = {
  create(context: Context) {
    if (areaOf(context.filename) !== "engine") return {};
    const waits = (node: Deno.lint.Node) =>
      context.report({
        node,
        message: "The engine never waits",
        hint: "Read from the turn; emit an effect",
      });
    const unlessSync = (node: { async: boolean } & Deno.lint.Node) => {
      if (node.async) waits(node);
    };
    return {
      AwaitExpression: waits,
      ForOfStatement: (node) => node.await && waits(node),
      FunctionDeclaration: unlessSync,
      FunctionExpression: unlessSync,
      ArrowFunctionExpression: unlessSync,
      Identifier(node) {
        if (!CLOCK_AND_CHANCE.includes(node.name) || !isReference(node)) return;
        context.report({ node, message: `The engine must not know ${node.name}` });
      },
      MemberExpression(node) {
        const { object, property } = node;
        if (object.type !== "Identifier" || object.name !== "Math") return;
        if (property.type === "Identifier" && property.name === "random") {
          context.report({ node, message: "The engine must not know Math.random" });
        }
      },
    };
  },
};

const noRuntime: Rule = {
  create(context: Context) {
    if (areaOf(context.filename) === undefined) return {};
    const hint = "Ask for it as a port (src/ports.ts) and lend it from adapters/";
    return {
      ...onModules((node, specifier) => {
        if (!RUNTIME_MODULE.test(specifier)) return;
        context.report({ node, message: `src must not import "${specifier}"`, hint });
      }),
      Identifier(node) {
        if (!RUNTIMES.includes(node.name) || !isReference(node)) return;
        context.report({ node, message: `src must not know ${node.name}`, hint });
      },
    };
  },
};

function linesOf(context: Context, [from, to]: readonly [number, number]): number {
  return context.sourceCode.text.slice(from, to).split("\n").length;
}

/** A group of tests is a list, not a function: only what it calls is measured. */
function isTestGroup(node: Deno.lint.Node): boolean {
  const { parent } = node as { parent: Deno.lint.Node };
  if (parent.type !== "CallExpression") return false;
  const callee = parent.callee.type === "CallExpression" ? parent.callee.callee : parent.callee;
  const root = callee.type === "MemberExpression" ? callee.object : callee;
  return root.type === "Identifier" && root.name === "describe";
}

const short: Rule = {
  create(context: Context) {
    const check = (node: Deno.lint.Node) => {
      const lines = linesOf(context, node.range);
      if (lines <= FUNCTION_LINES_MAX || isTestGroup(node)) return;
      const message = `${lines} lines: a function fits on a screen (${FUNCTION_LINES_MAX})`;
      context.report({ node, message });
    };
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
      Program(node) {
        const lines = context.sourceCode.text.trimEnd().split("\n").length;
        if (lines <= FILE_LINES_MAX) return;
        const message = `${lines} lines: a file tells one story (${FILE_LINES_MAX})`;
        context.report({ node, message });
      },
    };
  },
};

const oneSpelling: Rule = {
  create(context: Context) {
    const area = areaOf(context.filename);
    if (area === undefined || area === "names" || area === "wire") return {};
    return {
      Program() {
        for (const match of context.sourceCode.text.matchAll(/restate/gi)) {
          context.report({
            range: [match.index, match.index + match[0].length],
            message: "Only src/names.ts and src/wire/ spell the alias",
            hint: "Use a helper of src/names.ts",
          });
        }
      },
    };
  },
};

/** `_` in front: not a test by itself, but what tests share. A dot part in the end: `.test`, … */
const SNAKE_CASE = /^_?[a-z][a-z0-9]*(_[a-z0-9]+)*(\.[a-z]+)?\.(ts|tsx|mts|js|cjs|mjs)$/;

const snakeCase: Rule = {
  create(context: Context) {
    return {
      Program(node) {
        const name = context.filename.replaceAll("\\", "/").split("/").at(-1)!;
        if (SNAKE_CASE.test(name)) return;
        context.report({ node, message: `"${name}" must be written in snake_case` });
      },
    };
  },
};

export default {
  name: "tidy",
  rules: {
    "inward-imports": inwardImports,
    "pure-engine": pureEngine,
    "no-runtime": noRuntime,
    "short": short,
    "one-spelling": oneSpelling,
    "snake-case": snakeCase,
    "known-connections": knownConnections,
  },
} satisfies Deno.lint.Plugin;
