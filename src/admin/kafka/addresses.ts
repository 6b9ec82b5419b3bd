import { Failure } from "../../errors.ts";
import { handlerIn, type Schema } from "../../model/schema.ts";
import { expressionOf } from "../../kafka/expression.ts";
import { isExpression, sinkOf, topicOf } from "../../kafka/source.ts";
import { quote, wrongShape } from "../refusals.ts";

/** Characters of a source or sink. */
const URI_MAX = 2000;

/**
 * The source of a new subscription as it is stored: without query, and with a slash behind the cluster.
 * Throws a `Failure`: 422 for what is no URI, META0009 for one of another form, and for
 * an expression over topics that is none.
 */
export function readSource(text: string): string {
  const { scheme, authority, path } = readUri("source", text);
  if (scheme !== "kafka") throw wrongScheme("source", text, "kafka");
  const source = `kafka://${authority}${path || "/"}`;
  const topic = topicOf({ source });
  if (isExpression(topic)) checkExpression(text, topic);
  return source;
}

/**
 * The sink of a new subscription as it is stored. Throws a `Failure`: 422 for what is no URI, META0009
 * for one of another form, and for a service or handler that is not registered.
 */
export function readSink(text: string, schema: Schema): string {
  const { scheme, authority, path } = readUri("sink", text);
  if (scheme !== "service") throw wrongScheme("sink", text, "service");
  const sink = `service://${authority}${path}`;
  const { service: name, handler } = sinkOf({ sink });
  const service = schema.latest(name);
  if (service && handlerIn(service, handler)) return sink;
  const problem = "cannot find service/handler specified in the sink URI";
  throw bad("sink", text, `${problem}; register it first, and write service://SERVICE/HANDLER`);
}

function checkExpression(source: string, topic: string): void {
  try {
    expressionOf(topic);
  } catch (cause) {
    const { message } = cause as Error;
    throw bad("source", source, `its topic is no regular expression that can be used: ${message}`);
  }
}

interface Uri {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
}

/** A URI with its authority, or only one of authority and path. Query and fragment are dropped. */
const URI = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]+)(\/[^?#]*)?|[^/?#]+|\/[^?#]*)(?:[?#].*)?$/;

/** Without a scheme, all parts are empty. Throws a `Failure` 422. */
function readUri(field: "source" | "sink", text: string): Uri {
  if (text.length > URI_MAX) throw wrongShape(field, `expected up to ${URI_MAX} characters`);
  if (!/^[!-~]+$/.test(text)) {
    throw wrongShape(field, "expected a URI: visible ASCII characters, without spaces");
  }
  const parts = URI.exec(text);
  if (!parts) throw wrongShape(field, `expected a URI such as ${EXAMPLES[field]}`);
  const [, scheme = "", authority = "", path = ""] = parts;
  return { scheme: scheme.toLowerCase(), authority, path };
}

const EXAMPLES = {
  source: "kafka://CLUSTER/TOPIC",
  sink: "service://SERVICE/HANDLER",
} as const;

function wrongScheme(field: "source" | "sink", text: string, known: string): Failure {
  return bad(field, text, `must have a scheme segment, with supported schemes: [${known}]`);
}

function bad(field: "source" | "sink", text: string, why: string): Failure {
  return new Failure("META0009", `invalid ${field} URI ${quote(text)}: ${why}`);
}
