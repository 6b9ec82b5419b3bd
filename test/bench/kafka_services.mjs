// A handler that takes records and notes how old they are, with the SDK of the folder it runs in.
//   node kafka_services.mjs PORT
import http2 from "node:http2";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.cwd()}/`));
const restate = await import(pathToFileURL(require.resolve("@restatedev/restate-sdk")).href);

let takenCount = 0, ages = [];
const sink = restate.service({
  name: "Sink",
  handlers: {
    take: async (ctx) => {
      takenCount++;
      const written = Number(ctx.request().headers.get("kafka.timestamp"));
      if (ages.length < 100_000) ages.push(Date.now() - written);
    },
  },
});

/**
 * How many have been taken, and the ages of those since the last question, in milliseconds. It is asked
 * for here and not by a call of the server, which would wait behind the records.
 */
function taken(response) {
  response.end(JSON.stringify({ taken: takenCount, ages }));
  ages = [];
}

const handler = restate.createEndpointHandler({ services: [sink] });
const listener = (request, response) =>
  request.url === "/taken" ? taken(response) : handler(request, response);
http2.createServer(listener).listen(Number(process.argv[2]), "127.0.0.1", () => {
  console.log("ready");
});
