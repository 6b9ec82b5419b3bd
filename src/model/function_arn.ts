/** A function of a cloud's function service, named with its version, alias or `$LATEST`. */
export interface FunctionArn {
  /** The text as it was given, which identifies the deployment. */
  readonly arn: string;
  readonly region: string;
  /** Domain of the services of its part of the cloud: `amazonaws.com`. */
  readonly domain: string;
}

/** Says why a text is no ARN of a function. */
export class BadArn extends RangeError {
  override name = "BadArn";
}

const DOMAINS: ReadonlyMap<string, string> = new Map([
  ["aws", "amazonaws.com"],
  ["aws-cn", "amazonaws.com.cn"],
  ["aws-us-gov", "amazonaws.com"],
]);

/** `arn:aws:lambda:region:account:function:name:qualifier`. */
const PARTS = 8;

/**
 * Reads the ARN of a function: with a version, an alias or `$LATEST` at its end
 * (docs/spec/service-protocol.md#functions). Throws `BadArn` with the words clients know
 * (docs/spec/admin.md#registration-of-deployments).
 */
export function parseFunctionArn(arn: string): FunctionArn {
  const parts = arn.split(":");
  const [prefix, cloud = "", service, region = "", account = "", kind, name = "", tag = ""] = parts;
  if (prefix === "arn" && parts.length === PARTS - 1) {
    throw new BadArn(
      "A qualified ARN needs a version or alias suffix. If you want to use the unpublished " +
        "version, provide $LATEST and make sure your shell doesn't treat it as a variable",
    );
  }
  if (parts.length !== PARTS) {
    throw new BadArn("A qualified ARN must have 8 components delimited by `:`");
  }
  if (prefix !== "arn") throw new BadArn("ARN must start with `arn`");
  if (service !== "lambda") throw new BadArn("ARN must be for the lambda service");
  if (kind !== "function") throw new BadArn("ARN must be for a function");
  const domain = DOMAINS.get(cloud);
  if (domain === undefined) throw new BadArn("ARN must be in a known partition of the cloud");
  // The region becomes part of a host name.
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(region)) throw new BadArn("ARN must have a region");
  if (!/^\d{12}$/.test(account)) throw new BadArn("ARN must have an account of 12 digits");
  if (!/^[a-zA-Z0-9_-]{1,140}$/.test(name)) throw new BadArn("ARN must have a function name");
  if (!/^(\$LATEST|[a-zA-Z0-9_-]{1,129})$/.test(tag)) {
    throw new BadArn("ARN must end with a version, an alias or $LATEST");
  }
  return { arn, region, domain };
}

/** Whether a text may be the ARN of a role to assume. */
export function isRoleArn(text: string): boolean {
  return /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/.test(text);
}
