// node check.mjs ENDPOINT_URI INGRESS_URL ADMIN_URL [prefix svc|restate] [java|kotlin]
// Registers the endpoint over h2c and over HTTP/1.1 and checks every feature through both. SEEN=file keeps all that
// was seen (answers, journals, what discovery made of it) as JSON, to compare two servers.
import { writeFileSync } from "node:fs";
import { client } from "./client.mjs";
import { keyed } from "./keyed.mjs";
import { plain } from "./plain.mjs";
import { steps } from "./steps.mjs";
import { waits } from "./waits.mjs";
import { admin, ask, check, isKotlin, note, register, seen, world } from "./world.mjs";

/** The ingress client of Kotlin is the one of Java, which `Driver` tries. */
const SERVICES = ["Box", ...(isKotlin ? [] : ["Driver"]), "Flow", "Hidden", "Kitchen"];
const sorted = (list) => list.sort((a, b) => a.name < b.name ? -1 : 1);

const discovery = () =>
  check("discovery", [true, ...SERVICES], async () => {
    const { status, value } = await register(world.transport === "h1");
    const { value: deployment } = await ask(`${admin}/deployments/${value.id}`, { method: "GET" });
    const { value: registry } = await ask(`${admin}/services`, { method: "GET" });
    const services = sorted(registry.services)
      .map((service) => ({ ...service, handlers: sorted(service.handlers) }));
    note("registered", { ...deployment, services });
    const names = services.map((service) => service.name);
    return [status < 300, ...SERVICES.filter((name) => names.includes(name))];
  });

for (const transport of ["h2", "h1"]) {
  world.transport = transport;
  world.id = `${transport}-${process.pid}-${Date.now() % 100_000}`;
  await discovery();
  await plain();
  await steps();
  await waits();
  await keyed();
  if (!isKotlin) await client();
}
if (process.env.SEEN) writeFileSync(process.env.SEEN, JSON.stringify(seen, null, 1));
console.log(world.failures === 0 ? "all checks passed" : `${world.failures} failed`);
process.exit(world.failures === 0 ? 0 : 1);
