import { execFileSync } from "node:child_process";
import path from "node:path";

/** Of the user `user`, and of every key store. */
export const PASSWORD = "correct-horse";

const VALID_DAYS = "2";

/**
 * Makes key stores by the tool that every Java has: `broker.p12` and its certificate `ca.pem`,
 * `client.p12`, and `trusted.p12`, by which the broker knows the client.
 */
export function makeStores(folder: string): void {
  const keytool = (...args: readonly string[]) =>
    execFileSync("keytool", [...args, "-storepass", PASSWORD], { cwd: folder, stdio: "pipe" });
  const made = ["-keyalg", "EC", "-validity", VALID_DAYS, "-storetype", "PKCS12"];
  const pair = (name: string, ...args: string[]) =>
    keytool("-genkeypair", "-alias", name, "-keystore", `${name}.p12`, ...made, ...args);
  pair("broker", "-dname", "CN=localhost", "-ext", "san=dns:localhost,ip:127.0.0.1");
  pair("client", "-dname", "CN=client");
  const exported = ["-exportcert", "-rfc", "-alias"];
  keytool(...exported, "broker", "-keystore", "broker.p12", "-file", "ca.pem");
  keytool(...exported, "client", "-keystore", "client.p12", "-file", "client.pem");
  const imported = ["-importcert", "-noprompt", "-alias", "client", "-file", "client.pem"];
  keytool(...imported, "-keystore", "trusted.p12", "-storetype", "PKCS12");
}

/** Settings of the listeners `SASL` and `MUTUAL`. */
export function secureSettings(folder: string): Record<string, string> {
  const store = (kind: "keystore" | "truststore", file: string) => ({
    [`ssl.${kind}.location`]: path.join(folder, file),
    [`ssl.${kind}.password`]: PASSWORD,
    [`ssl.${kind}.type`]: "PKCS12",
  });
  const jaas = (mechanism: string, module: string) => ({
    [`listener.name.sasl.${mechanism}.sasl.jaas.config`]:
      `org.apache.kafka.common.security.${module} required`,
  });
  const plain = jaas("plain", "plain.PlainLoginModule");
  const bearer = jaas("oauthbearer", "oauthbearer.OAuthBearerLoginModule");
  const scram = jaas("scram-sha-256", "scram.ScramLoginModule");
  const scram512 = jaas("scram-sha-512", "scram.ScramLoginModule");
  const ending = (lines: Record<string, string>, end: string) =>
    Object.fromEntries(Object.entries(lines).map(([name, value]) => [name, `${value}${end};`]));
  return {
    ...store("keystore", "broker.p12"),
    ...store("truststore", "trusted.p12"),
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    "listener.name.mutual.ssl.client.auth": "required",
    ...ending(plain, ` user_user="${PASSWORD}"`),
    ...ending(bearer, ' unsecuredLoginStringClaim_sub="broker"'),
    ...ending(scram, ""),
    ...ending(scram512, ""),
  };
}
