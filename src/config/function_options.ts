import { optionalText, optionalUrl } from "./kinds.ts";
import { option } from "./option.ts";

/**
 * Settings of function deployments (docs/spec/service-protocol.md#functions), with the cloud's own
 * names.
 */
export const functionOptions = {
  "worker.invoker.aws-access-key-id": option(optionalText("a key id"), "", {
    doc: "Names the key that calls of function deployments are signed with.",
    env: ["AWS_ACCESS_KEY_ID"],
  }),
  "worker.invoker.aws-secret-access-key": option(optionalText("a key"), "", {
    doc: "That key. Without it no function is called; no metadata address is ever asked for one.",
    secret: true,
    env: ["AWS_SECRET_ACCESS_KEY"],
  }),
  "worker.invoker.aws-session-token": option(optionalText("a token"), "", {
    doc: "Goes with a key that is borrowed.",
    secret: true,
    env: ["AWS_SESSION_TOKEN"],
  }),
  "worker.invoker.aws-assume-role-external-id": option(optionalText("an id"), "", {
    doc: "What roles of function deployments are assumed with besides their name.",
  }),
  "worker.invoker.aws-lambda-endpoint-url": option(optionalUrl(), "", {
    doc: "Where functions are called, in place of the cloud's own address in the ARN's region.",
    env: ["AWS_ENDPOINT_URL_LAMBDA", "AWS_ENDPOINT_URL"],
  }),
  "worker.invoker.aws-sts-endpoint-url": option(optionalUrl(), "", {
    doc: "Where roles are assumed, in place of the cloud's own address in the ARN's region.",
    env: ["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"],
  }),
} as const;
