import { optionalText, optionalUrl } from "./kinds.ts";
import { option } from "./option.ts";

/**
 * Settings of function deployments (docs/spec/service-protocol.md#functions), with the cloud's own
 * names.
 */
export const functionOptions = {
  "worker.invoker.aws-access-key-id": option(optionalText("a key id"), "", {
    doc: "The id of the key that signs calls of function deployments.",
    env: ["AWS_ACCESS_KEY_ID"],
  }),
  "worker.invoker.aws-secret-access-key": option(optionalText("a key"), "", {
    doc: "That key. Without it no function is called: the server asks no metadata service for one.",
    secret: true,
    env: ["AWS_SECRET_ACCESS_KEY"],
  }),
  "worker.invoker.aws-session-token": option(optionalText("a token"), "", {
    doc: "The session token of a temporary key.",
    secret: true,
    env: ["AWS_SESSION_TOKEN"],
  }),
  "worker.invoker.aws-assume-role-external-id": option(optionalText("an id"), "", {
    doc: "The external id that is sent when roles of function deployments are assumed.",
  }),
  "worker.invoker.aws-lambda-endpoint-url": option(optionalUrl(), "", {
    doc: "The URL where functions are called, instead of the cloud's own in the ARN's region.",
    env: ["AWS_ENDPOINT_URL_LAMBDA", "AWS_ENDPOINT_URL"],
  }),
  "worker.invoker.aws-sts-endpoint-url": option(optionalUrl(), "", {
    doc: "The URL where roles are assumed, instead of the cloud's own in the ARN's region.",
    env: ["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"],
  }),
} as const;
