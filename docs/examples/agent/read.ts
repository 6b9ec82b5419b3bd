// Usage: node read.ts INGRESS RUN. Prints what the agent says, part by part, as it says it.
import process from "node:process";

const [ingress = "", run = ""] = process.argv.slice(2);

for (let at = 0;; at++) {
  const answer = await fetch(`${ingress}/svc/call/Agent/${run}/read`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(at),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  const { text, isLast } = await answer.json();
  if (isLast) break;
  console.log(text);
}
