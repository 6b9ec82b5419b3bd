// Stands in for the API of others: so many requests in a second, and 429 for any above that.
import { createServer } from "node:http";

const PER_SECOND = 5;
const charges = new Map<string, number>();
let refused = 0, second = 0, inSecond = 0;

createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://bank");
  if (pathname === "/report") {
    const twice = [...charges.values()].filter((times) => times > 1).length;
    return response.end(JSON.stringify({ charged: charges.size, twice, refused }));
  }
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) [second, inSecond] = [now, 0];
  if (++inSecond > PER_SECOND) {
    refused++;
    return response.writeHead(429, { "retry-after": "1" }).end();
  }
  charges.set(pathname, (charges.get(pathname) ?? 0) + 1);
  response.end(JSON.stringify({ receipt: pathname.slice("/charge/".length) }));
}).listen(9081, "127.0.0.1");
