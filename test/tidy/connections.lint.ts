/**
 * Which files can open a connection. Where operators decide on the address, the egress rules have to be
 * asked (docs/decisions/057-checked-where-sockets-open.md), so that each file that has what opens one is
 * listed here with why it may.
 */
type Context = Deno.lint.RuleContext;
type Rule = Deno.lint.Rule;

/** Files and folders (with a slash at the end), and where their connections go. */
const KNOWN: Readonly<Record<string, string>> = {
  "adapters/dial/": "checked by its guard",
  "adapters/kafka/sockets.ts": "checked by the guard of `dial`",
  "adapters/workerd/fetch_dial.ts": "checked before each request",
  "adapters/workerd/partition_object.ts": "hands sockets to `workerd/dial.ts`, which checks",
  "adapters/libsql/remote/": "to the database server",
  "adapters/server/fleet_post.ts": "to other processes of the fleet",
  "adapters/kafka/server_api.ts": "from a sidecar to its server",
  "adapters/tls/pinned_fetch.ts": "from a sidecar to its server",
  "adapters/tls/outgoing.ts": "to none: it makes options",
  "adapters/node/divert_http2.ts": "to none: it takes them",
  "adapters/cli/server_client.ts": "from a tool to the server that its user names",
  "adapters/cli/endpoint_process.ts": "from a tool to the endpoint that it has started",
  "adapters/create/starters/": "from a test of a project to the server that it has started",
  "adapters/container/health.mjs": "from a container to itself",
};

const GLOBALS = ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"];
const MODULES = /^(node:)?(http|https|http2|net|tls|dgram|cluster)$|^cloudflare:sockets$/;
/** What these modules export and opens no connection. */
const HARMLESS =
  /^(create(Secure)?Server|isIP(v[46])?|constants|STATUS_CODES|ServerResponse|Http2ServerResponse)$/;

export const knownConnections: Rule = {
  create(context: Context) {
    const path = placeOf(context.filename);
    if (path === undefined || isKnown(path)) return {};
    const report = (node: Deno.lint.Node, what: string) =>
      context.report({
        node,
        message: `Only known files can open connections: ${what}`,
        hint:
          "Send it through the dial of the platform (src/collect.ts), which asks the egress rules",
      });
    return {
      ImportDeclaration(node) {
        if (!MODULES.test(node.source.value) || node.importKind === "type") return;
        for (const one of node.specifiers) {
          if (one.type === "ImportSpecifier") {
            if (one.importKind === "type" || HARMLESS.test(importedName(one))) continue;
          }
          report(node, `"${node.source.value}"`);
        }
      },
      ImportExpression(node) {
        const { source } = node;
        if (source.type === "Literal" && MODULES.test(String(source.value))) {
          report(node, String(source.value));
        }
      },
      Identifier(node) {
        if (GLOBALS.includes(node.name) && isGlobal(node)) report(node, node.name);
      },
    };
  },
};

/** The path from the root of the repository, for the server's own code. The UI is code of browsers. */
function placeOf(filename: string): string | undefined {
  const [, place] = /(?:^|\/)((?:src|adapters)\/.*)$/.exec(filename.replaceAll("\\", "/")) ?? [];
  return place === undefined || /^src\/(ui|engine)\//.test(place) ? undefined : place;
}

function isKnown(path: string): boolean {
  return Object.keys(KNOWN).some((known) =>
    known.endsWith("/") ? path.startsWith(known) : path === known
  );
}

function importedName(node: Deno.lint.ImportSpecifier): string {
  return node.imported.type === "Identifier" ? node.imported.name : String(node.imported.value);
}

/** Whether an identifier is the global of its name: also behind `globalThis`, not as a key. */
function isGlobal(node: Deno.lint.Identifier): boolean {
  const { parent } = node as unknown as { parent: Record<string, unknown> };
  switch (parent["type"]) {
    case "MemberExpression": {
      const { name } = parent["object"] as { readonly name?: string };
      return parent["object"] === node || parent["computed"] === true || name === "globalThis" ||
        name === "self";
    }
    case "Property":
    case "PropertyDefinition":
      return parent["value"] === node || parent["computed"] === true;
    case "MethodDefinition":
    case "TSPropertySignature":
    case "TSMethodSignature":
    case "TSAbstractMethodDefinition":
      return parent["computed"] === true;
    case "ImportSpecifier":
    case "ExportSpecifier":
    case "LabeledStatement":
      return false;
    default:
      return true;
  }
}
