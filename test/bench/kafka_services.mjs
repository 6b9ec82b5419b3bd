// A handler that takes records and notes how old they are, with the SDK of the folder it runs in.
//   node kafka_services.mjs PORT
import http2 from "node:http2";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.cwd()}/`));
const restate = await import(pathToFileURL(require.resolve("@restatedev/restate-sdk")).href);

let taken = 0, ages = [];
const sink = restate.service({
  name: "Sink",
  handlers: {
    take: async (ctx) => {
      taken++;
      const written = Number(ctx.request().headers.get("kafka.timestamp"));
      if (ages.length < 100_000) ages.push(Date.now() - written);
    },
    // How many have been taken, and the ages of those since the last question, in milliseconds.
    taken: async () => {
      const answer = { taken, ages };
      ages = [];
      return answer;
    },
  },
});

const handler = restate.createEndpointHandler({ services: [sink] });
http2.createServer(handler).listen(Number(process.argv[2]), "127.0.0.1", () => {
  console.log("ready");
});
