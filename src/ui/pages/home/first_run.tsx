import { apiUrl } from "../../data/client.ts";
import { server } from "../../data/server.ts";
import { link } from "../../state/router.ts";
import { Copy } from "../../widgets/id.tsx";
import { Empty } from "../../widgets/empty.tsx";
import { RegisterFirst } from "./probe.tsx";

/** Nothing is registered: the command that changes it, and what comes next. */
export function FirstRun() {
  const command = `curl ${apiUrl("deployments")} --json '{"uri": "http://localhost:9080"}'`;
  const ingress = server.value?.ingress_endpoint ?? "http://localhost:8080/";
  return (
    <Empty title="No deployment is registered. Start an endpoint, and register it:">
      <p>
        <code>{command}</code> <Copy text={command} label="the command" />
      </p>
      <RegisterFirst />
      <p>
        Its services are shown here as soon as it is registered. Then call a handler below{" "}
        <code>{ingress}</code>, and its invocation is shown on the page{" "}
        <a href={link("invocations")}>Invocations</a>.
      </p>
      <p class="quiet">Version {server.value?.version ?? "unknown"}</p>
    </Empty>
  );
}
