/** A JSON object, such as a JSON schema. */
export type Json = Readonly<Record<string, unknown>>;
