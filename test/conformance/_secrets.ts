import { generateKeyPairSync } from "node:crypto";

/** Every secret has it: where it is found, one of them has leaked. */
export const MARK = "Zz9mArKeDsEcReTzZ";
const { privateKey } = generateKeyPairSync("ed25519");
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const RSA = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
  .export({ type: "pkcs8", format: "pem" }).toString();
/** A line of each key, and tokens, as they are made. */
export const marks = [MARK, PEM.split("\n")[1]!.slice(-24), RSA.split("\n")[15]!];

/** The secrets of a server with a data folder. */
export const SETTINGS = {
  ADMIN__TOKEN: `${MARK}-admin`,
  INGRESS__TOKEN: `${MARK}-ingress`,
  AUTH__TOKENS: `# ${MARK}-comment`,
  KAFKA__TOKEN: `${MARK}-kafka-token`,
  WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM: PEM,
  WORKER__INVOKER__AWS_ACCESS_KEY_ID: "an-id-is-no-secret",
  WORKER__INVOKER__AWS_SECRET_ACCESS_KEY: `${MARK}-key`,
  WORKER__INVOKER__AWS_SESSION_TOKEN: `${MARK}-session`,
  STORAGE__ENCRYPTION_KEY: `${MARK}-encryption-of-the-folder`,
  TRACING_HEADERS: `["authorization=${MARK}-tracing"]`,
  OUTBOUND__ID_TOKEN__ISSUER: "https://perdure.example",
  OUTBOUND__ID_TOKEN__PRIVATE_KEY_PEM: RSA,
  OUTBOUND__ID_TOKEN__GOOGLE_KEY: JSON.stringify({
    client_email: "robot@example.com",
    private_key: RSA,
    private_key_id: `${MARK}-key-id`,
    token_uri: "http://127.0.0.1:9/token",
  }),
};
/** Settings that are no secrets, and have one in the query of their URL. */
export const URLS = {
  TRACING_ENDPOINT: `http://127.0.0.1:9/v1/traces?key=${MARK}-collector`,
  AUTH__JWT__ISSUER: "https://issuer.example",
  AUTH__JWT__KEYS: `http://127.0.0.1:9/keys?token=${MARK}-issuer`,
};
/** The secrets of a server in a fleet, on a database server. `address`: an http URL without a query. */
export const inFleet = (address: string) => ({
  STORAGE__DATABASE_URL: `${address}?authToken=${MARK}-of-the-url`,
  STORAGE__AUTH_TOKEN: `${MARK}-of-the-database`,
  FLEET__SECRET: `${MARK}-fleet-secret`,
});

export const marked = (text: string) => marks.some((mark) => text.includes(mark));

/** Settings as variables of the environment. */
export const variables = (settings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`SVC_${name}`, value]));
