// Handlers that answer the headers they got: `asking` asks for two that are redacted, `plain` does not.
import { restate, serve } from "./sdk.mjs";

const headers = async (ctx) => Object.fromEntries(ctx.request().headers);
const asks = { metadata: { "ingress-headers": "Authorization, x-signed-*" } };

await serve([
  restate.service({
    name: "Headers",
    handlers: {
      plain: headers,
      asking: restate.handlers.handler(asks, headers),
    },
  }),
]);
