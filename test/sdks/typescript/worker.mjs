// The endpoint as a Worker: bundle it beside the SDK's package for them, with .wasm left outside.
import * as clients from "@restatedev/restate-sdk-clients";
import * as restate from "@restatedev/restate-sdk-cloudflare-workers/fetch";
import { services } from "./services.mjs";

const endpoint = restate.endpoint();
for (const service of services(restate, clients)) endpoint.bind(service);

export default endpoint.handler();
