// Runs in each runtime: prints as JSON what `nodeDial` receives from the endpoint of
// runtime.test.ts, and a signature.
import process from "node:process";
import { nodeDial } from "../../adapters/dial/dial.ts";
import { readPrivateKey } from "../../src/outbound/identity/private_key.ts";
import type { DialRequest } from "../../src/dial.ts";

const KEY = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIEBBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5f
-----END PRIVATE KEY-----`;

async function sign(): Promise<string> {
  const key = await readPrivateKey(KEY);
  const signature = await key.sign(new TextEncoder().encode("data"));
  return `${key.publicKey} ${btoa(String.fromCharCode(...signature))}`;
}

const [h1, h2, nowhere] = process.argv.slice(2).map((port) => `http://127.0.0.1:${port}/`);
const dial = nodeDial();

function talk(url: string, version: DialRequest["version"]): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    const request = { url, version, method: "POST", headers: {}, connectTimeoutMs: 2000 } as const;
    const exchange = dial.open(request, {
      head: ({ status }) => text += `${status}:`,
      chunk: (bytes) => {
        text += new TextDecoder().decode(bytes);
        if (text.endsWith("one")) exchange.write(new TextEncoder().encode("two"));
        else exchange.end();
      },
      end: () => resolve(`${text} end`),
      failed: ({ kind }) => resolve(`${text} ${kind}`),
      drain: () => {},
    });
    exchange.write(new TextEncoder().encode("one"));
  });
}

console.log(JSON.stringify({
  "h1 echo": await talk(`${h1}echo`, "h1"),
  "h2 echo": await talk(`${h2}echo`, "h2"),
  "h2 echo at once": await Promise.all(Array.from({ length: 7 }, () => talk(`${h2}echo`, "h2"))),
  "h2 reset": await talk(`${h2}reset`, "h2"),
  "h1 lost": await talk(`${h1}lost`, "h1"),
  "h2 lost": await talk(`${h2}lost`, "h2"),
  "h2 on h1": await talk(`${h1}echo`, "h2"),
  "h1 nowhere": await talk(`${nowhere}`, "h1"),
  "h2 nowhere": await talk(`${nowhere}`, "h2"),
  "signature": await sign(),
}));
await dial.close();
