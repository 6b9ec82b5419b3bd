import { authStruct } from "../deployment_auth.ts";
import type { Json } from "../json.ts";
import { headerValues, jsonSchemaOf } from "../shapes.ts";

/** Points to one of the schemas below. */
export function ref(name: keyof typeof answerSchemas): Json {
  return { $ref: `#/components/schemas/${name}` };
}

const string = { type: "string" } as const;
const integer = { type: "integer" } as const;
const natural = { type: "integer", minimum: 0 } as const;
const boolean = { type: "boolean" } as const;
/** A duration as it is printed: `1d 2h 3m 4s 5ms`. */
const duration = { type: "string", examples: ["1d", "10m", "500ms"] } as const;
const strings = { type: "object", additionalProperties: string } as const;

function listOf(items: Json): Json {
  return { type: "array", items };
}

/** An object. Names that end with `?` may be absent. */
function object(fields: Readonly<Record<string, Json>>): Json {
  const names = Object.keys(fields);
  const required = names.filter((name) => !name.endsWith("?"));
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), fields[name]])),
    ...(required.length > 0 && { required }),
  };
}

function pointTo(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

const protocol = {
  min_protocol_version: integer,
  max_protocol_version: integer,
  "sdk_version?": string,
};

/** What all deployments have. */
const deployed = {
  id: string,
  "additional_headers?": pointTo("HeaderValues"),
  "auth?": pointTo("DeploymentAuth"),
  "metadata?": pointTo("Texts"),
  created_at: { type: "string", format: "date-time" },
  ...protocol,
  "paused?": boolean,
};

const time = { type: "string", format: "date-time" } as const;

const cluster = { name: string, properties: pointTo("Texts"), created_at: time };

const subscription = {
  id: string,
  source: string,
  sink: string,
  options: pointTo("Texts"),
  "paused?": boolean,
};

/** What may run of something. Absent: unlimited. */
const limited = {
  "concurrency?": { type: "integer", minimum: 1 },
  "rate?": pointTo("Rate"),
};

/**
 * An endpoint or a function, with its services in brief or in full
 * (docs/spec/admin.md#registration-of-deployments).
 */
function deployment(services: Json): Json {
  return {
    anyOf: [
      object({
        ...deployed,
        uri: string,
        protocol_type: { enum: ["BidiStream", "RequestResponse"] },
        http_version: { enum: ["HTTP/1.1", "HTTP/2.0"] },
        services,
      }),
      object({ ...deployed, arn: string, "assume_role_arn?": string, services }),
    ],
  };
}

/** The bodies of answers, by name (docs/spec/admin.md#operations). */
export const answerSchemas = {
  // With a name, since generators make two of what is within one of several shapes.
  Texts: strings,
  HeaderValues: jsonSchemaOf(headerValues),
  DeploymentAuth: jsonSchemaOf(authStruct),
  JsonWebKeySet: object({ keys: listOf({ type: "object" }) }),
  IdTokenIssuer: object({
    issuer: string,
    jwks_uri: string,
    id_token_signing_alg_values_supported: listOf(string),
    response_types_supported: listOf(string),
    subject_types_supported: listOf(string),
  }),
  ServiceRevision: object({ name: string, revision: integer }),
  VersionInformation: object({
    version: string,
    min_admin_api_version: natural,
    max_admin_api_version: natural,
    ingress_endpoint: string,
    features: { type: "object", additionalProperties: boolean },
  }),
  Readiness: object({
    ready: boolean,
    "causes?": listOf(object({ "partition?": natural, cause: string, since: string })),
  }),
  ClusterHealthResponse: object({
    cluster_name: string,
    "metadata_cluster_health?": object({ members: listOf(integer) }),
    "members?": listOf(object({
      id: string,
      address: string,
      partitions: listOf(natural),
      reached: boolean,
      "cause?": string,
      "since?": string,
    })),
  }),
  ListDeployments: object({ deployments: listOf(pointTo("Deployment")) }),
  Deployment: deployment(listOf(pointTo("ServiceRevision"))),
  DetailedDeployment: deployment(listOf(pointTo("Service"))),
  RegisterDeploymentResponse: object({
    id: string,
    services: listOf(pointTo("Service")),
    ...protocol,
  }),
  ListServices: object({ services: listOf(pointTo("Service")) }),
  Service: object({
    name: string,
    ty: { enum: ["Service", "VirtualObject", "Workflow"] },
    handlers: listOf(pointTo("Handler")),
    "documentation?": string,
    "metadata?": strings,
    deployment_id: string,
    revision: integer,
    public: boolean,
    idempotency_retention: duration,
    "workflow_completion_retention?": duration,
    journal_retention: duration,
    inactivity_timeout: duration,
    abort_timeout: duration,
    enable_lazy_state: boolean,
    retry_policy: pointTo("RetryPolicy"),
    "info?": listOf(pointTo("Info")),
    ...limited,
    "paused?": boolean,
  }),
  ListHandlers: object({ handlers: listOf(pointTo("Handler")) }),
  Handler: object({
    name: string,
    "ty?": { enum: ["Exclusive", "Shared", "Workflow"] },
    "documentation?": string,
    "metadata?": strings,
    "idempotency_retention?": duration,
    "journal_retention?": duration,
    "inactivity_timeout?": duration,
    "abort_timeout?": duration,
    "enable_lazy_state?": boolean,
    public: boolean,
    input_description: string,
    output_description: string,
    "input_json_schema?": {},
    "output_json_schema?": {},
    retry_policy: pointTo("RetryPolicy"),
    "info?": listOf(pointTo("Info")),
    ...limited,
  }),
  UserLimits: object(limited),
  Rate: object({ count: integer, period: duration, "burst?": integer }),
  RuleResponse: object({
    pattern: string,
    limits: pointTo("UserLimits"),
    "description?": string,
    disabled: boolean,
    version: natural,
    last_modified_millis_since_epoch: natural,
  }),
  RetryPolicy: object({
    "initial_interval?": duration,
    "exponentiation_factor?": { type: "number" },
    max_attempts: { type: ["integer", "null"] },
    "max_interval?": duration,
    "on_max_attempts?": { enum: ["Pause", "Kill"] },
  }),
  Info: object({ code: string, message: string }),
  ListKafkaClusters: object({ clusters: listOf(pointTo("SimpleKafkaCluster")) }),
  SimpleKafkaCluster: object(cluster),
  KafkaCluster: object({ ...cluster, subscriptions: listOf(pointTo("Subscription")) }),
  ListSubscriptions: object({ subscriptions: listOf(pointTo("Subscription")) }),
  Subscription: object(subscription),
  DetailedSubscription: object({
    ...subscription,
    state: { enum: ["starting", "running", "paused", "blocked", "failing"] },
    "last_error?": object({ message: string, at: time }),
    partitions: listOf(pointTo("SubscriptionPartition")),
  }),
  SubscriptionPartition: object({
    topic: string,
    partition: natural,
    "position?": natural,
    "end?": natural,
    "lag?": natural,
    "stopped_by?": object({ kind: { enum: ["poison", "inbox"] }, message: string }),
  }),
  DeletedGroup: object({ group: string, is_deleted: boolean, "message?": string }),
  SkippedRecord: object({ topic: string, partition: natural, offset: natural }),
  RestartAsNewInvocationResponse: object({ new_invocation_id: string }),
  BatchOperationResult: object({
    succeeded: listOf({
      anyOf: [string, object({ old_invocation_id: string, new_invocation_id: string })],
    }),
    failed: listOf(object({ invocation_id: string, error: string })),
  }),
} as const satisfies Readonly<Record<string, Json>>;
