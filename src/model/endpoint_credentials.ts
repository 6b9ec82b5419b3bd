/** Values, and where a value is to be found when it is sent. */
export type AdditionalHeaders = Readonly<Record<string, string | VariableRef>>;

/** The value of a variable in the environment of the process that sends it. */
export interface VariableRef {
  readonly env: string;
}

/** An ID token by which an endpoint, or what stands in front of it, knows this server. */
export interface IdentityToken {
  /** `google`: of the token endpoint of a service account. `server`: signed by this server. */
  readonly issuer: "google" | "server";
  readonly audience: string;
  /** The header in which it is sent, behind `Bearer`. Lower case. */
  readonly header: string;
}
