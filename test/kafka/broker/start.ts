/** Runs a broker until it is interrupted. */
import process from "node:process";
import { brokerTools, startBroker } from "./broker.ts";

const jars = await brokerTools();
if (jars === undefined) process.exit(1);
const broker = await startBroker(jars, { isSecure: process.argv.includes("--secure") });
console.log(`plain ${broker.address}, SASL and TLS ${broker.saslAddress}, in ${broker.folder}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void broker.close().then(() => process.exit(0)));
}
