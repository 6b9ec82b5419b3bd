import { BEARER_OR_NONE, SECURITY_SCHEMES } from "../../auth/security_scheme.ts";
import type { FlowControl } from "../../model/schema.ts";
import { OWN } from "../../names.ts";
import {
  anything,
  headers,
  type Json,
  json,
  parameter,
  parameters,
  response,
  responses,
  schemas,
} from "./components.ts";

/**
 * The routes of this port as OpenAPI 3.1 (docs/spec/ingress.md#routes), in our own spelling. Handlers
 * are not listed one by one: the admin interface describes each service with its schemas. `version`:
 * the server's. `allowed`: routes in a scope are among them while scopes are enabled.
 */
export function ingressDocument(version: string, allowed: FlowControl | undefined): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Ingress API",
      version,
      description:
        "Calls handlers and finds their results. The handlers of one service, with their " +
        "schemas: `GET /services/{service}/openapi` on the admin port.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: BEARER_OR_NONE,
    tags: [
      { name: "invoke", description: "Calls and sends" },
      { name: "result", description: "Results of what was called or sent before" },
      { name: "awakeable", description: "Promises that handlers wait for" },
      { name: "server", description: "The server itself" },
    ],
    paths: {
      ...invoke(""),
      ...(allowed?.scopes && invoke("InScope")),
      ...results(),
      ...awakeables(),
      ...server(),
    },
    components: { parameters, responses, schemas, headers, securitySchemes: SECURITY_SCHEMES },
  };
}

const FORMS = [
  { form: "Service", keyed: "a service", segments: ["service", "handler"] },
  { form: "Object", keyed: "an object or workflow", segments: ["service", "key", "handler"] },
] as const;
type Form = typeof FORMS[number];

/** `where`: with `InScope` the routes in a scope. */
function invoke(where: "" | "InScope"): Json {
  return Object.fromEntries(FORMS.flatMap((one) => invokeForm(one, where)));
}

function invokeForm({ form, keyed, segments }: Form, where: "" | "InScope"): [string, Json][] {
  const path = segments.map((one) => `{${one}}`).join("/");
  const [head, place, scoped] = where === ""
    ? [`/${OWN}`, "", []]
    : [`/${OWN}/scope/{scope}`, " in a scope", [parameter("scope"), parameter("limitKey")]];
  const named = [...scoped, ...segments.map(parameter)];
  const given = [...named, parameter("idempotencyKey"), parameter("priority")];
  const requestBody = { required: false, content: { "*/*": anything } };
  const calls = `Calls a handler of ${keyed}${place} and waits for its result`;
  const sends = `Sends a handler of ${keyed} a request${place}, now or later`;
  return [
    [`${head}/call/${path}`, {
      post: {
        ...about(`call${form}${where}`, "invoke", calls),
        parameters: given,
        requestBody,
        responses: { 200: response("Result"), default: response("Error") },
      },
    }],
    [`${head}/send/${path}`, {
      post: {
        ...about(`send${form}${where}`, "invoke", sends),
        parameters: [...given, parameter("delay")],
        requestBody,
        responses: { 202: response("Sent"), default: response("Error") },
      },
    }],
  ];
}

function results(): Json {
  const attached = {
    200: response("Result"),
    404: response("NotFound"),
    default: response("Error"),
  };
  const found = { ...attached, 470: response("NotReady") };
  const body = json("Target");
  const forms = [
    ["attach", "Waits for the result of an invocation", attached],
    ["output", "The result of an invocation, if it has one", found],
  ] as const;
  return {
    ...Object.fromEntries(forms.flatMap(([verb, summary, responses]) => [
      [`/${OWN}/${verb}/{invocationId}`, {
        get: {
          ...about(verb, "result", summary),
          parameters: [parameter("invocationId")],
          responses,
        },
      }],
      [`/${OWN}/${verb}`, {
        post: { ...about(`${verb}Target`, "result", summary), requestBody: body, responses },
      }],
    ])),
    [`/${OWN}/lookup`]: {
      post: {
        ...about("lookup", "result", "The id of an invocation, whether or not there is one"),
        requestBody: body,
        responses: { 200: response("Found"), default: response("Error") },
      },
    },
  };
}

function awakeables(): Json {
  const taken = { description: "Taken, also if it was completed before" };
  const verbs = [["resolve", "*/*", "with a value"], [
    "reject",
    "text/plain",
    "with a reason",
  ]] as const;
  return Object.fromEntries(verbs.map(([verb, type, what]) => [
    `/${OWN}/awakeables/{awakeableId}/${verb}`,
    {
      post: {
        ...about(`${verb}Awakeable`, "awakeable", `Completes an awakeable ${what}`),
        parameters: [parameter("awakeableId")],
        requestBody: { required: false, content: { [type]: anything } },
        responses: { 202: taken, default: response("Error") },
      },
    },
  ]));
}

function server(): Json {
  const get = (id: string, summary: string, responses: Json) => ({
    get: { ...about(id, "server", summary), responses },
  });
  const answer = (description: string) => ({
    description,
    content: { "application/json": { schema: { type: "object" } } },
  });
  return {
    [`/${OWN}/health`]: get("health", "Names of all services", { 200: answer("It answers") }),
    [`/${OWN}/ready`]: get("ready", "Whether the process serves all that it should", {
      200: answer("Ready"),
      503: answer("Not ready, and why"),
    }),
    "/openapi": get("openapi", "This document", { 200: answer("OpenAPI 3.1") }),
  };
}

function about(operationId: string, tag: string, summary: string): Json {
  return { operationId, tags: [tag], summary };
}
