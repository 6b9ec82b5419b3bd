import { Failure } from "../../errors.ts";
import type { AdditionalHeaders, VariableRef } from "../../model/endpoint_credentials.ts";
import { DIALECTS } from "../../names.ts";
import { CannotAuthenticate } from "./cannot_authenticate.ts";

/** Reads a variable of the environment of this process. */
export type ReadVariable = (name: string) => string | undefined;

/** Every byte but control characters; a tab is allowed (RFC 9110, section 5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;
/** Our own settings, which hold tokens of the server itself. */
const SETTINGS = DIALECTS.map((dialect) => `${dialect.toUpperCase()}_`);

/**
 * Values of headers that are in variables of the environment
 * (docs/spec/admin.md#headers-from-variables).
 */
export class Variables {
  readonly #permitted: readonly string[];
  readonly #read: ReadVariable | undefined;

  /** `permitted`: names, and beginnings of names followed by `*`. `read`: absent, there are none. */
  constructor(permitted: readonly string[], read: ReadVariable | undefined) {
    this.#permitted = permitted;
    this.#read = read;
  }

  /** Throws `Failure` META0019 unless each reference of these headers can be resolved. */
  check(headers: AdditionalHeaders): void {
    for (const [name, { env }] of references(headers)) {
      const problem = this.#problem(name, env);
      if (problem !== undefined) throw new Failure("META0019", problem);
    }
  }

  /** The headers whose values are in variables. Throws `CannotAuthenticate` that names the variable. */
  resolve(headers: AdditionalHeaders): Record<string, string> {
    const resolved: Record<string, string> = {};
    for (const [name, { env }] of references(headers)) {
      const problem = this.#problem(name, env);
      if (problem !== undefined) throw new CannotAuthenticate(problem);
      resolved[name] = this.#read?.(env) ?? "";
    }
    return resolved;
  }

  /** Why a variable cannot be the value of a header. Never quotes its value. */
  #problem(header: string, env: string): string | undefined {
    const cannot = `Cannot send the header "${header}": the variable "${env}"`;
    if (!this.#isPermitted(env)) {
      return `${cannot} may not be used for headers ("outbound.header-variables": ${
        this.#permitted.join(", ") || "none"
      })`;
    }
    const value = this.#read?.(env);
    if (value === undefined || value === "") return `${cannot} is not set in this process`;
    if (VALUE.test(value)) return undefined;
    return `${cannot} has a character that no header may have, such as a line break`;
  }

  #isPermitted(env: string): boolean {
    if (SETTINGS.some((beginning) => env.toUpperCase().startsWith(beginning))) return false;
    return this.#permitted.some((one) =>
      one.endsWith("*") ? env.startsWith(one.slice(0, -1)) : env === one
    );
  }
}

/** Whether a header of these has its value elsewhere. */
export function hasReference(headers: AdditionalHeaders): boolean {
  for (const name in headers) if (typeof headers[name] !== "string") return true;
  return false;
}

function references(headers: AdditionalHeaders): (readonly [string, VariableRef])[] {
  return Object.entries(headers).filter((entry): entry is [string, VariableRef] =>
    typeof entry[1] !== "string"
  );
}
