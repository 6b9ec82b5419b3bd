import { abilities, hasScopes, isPerdure } from "../../data/server.ts";
import { Empty } from "../../widgets/empty.tsx";
import { Page } from "../../widgets/page.tsx";
import { Counters } from "./counters.tsx";
import { Queues } from "./queues.tsx";
import { Rules } from "./rules.tsx";
import { ServiceLimits } from "./services.tsx";

/** What may run, what is paused, and what waits for what. */
export default function Limits() {
  if (!abilities().hasLimits) {
    return (
      <Page title="Limits">
        <Empty title="Flow control is off on this server: it has no rules, counters and queues." />
      </Page>
    );
  }
  return (
    <Page title="Limits">
      {!hasScopes() && (
        <p class="notice">
          Scopes are off on this server (<code>experimental-enable-vqueues</code>): calls with one
          are refused. Rules can be written, and have an effect once scopes are on. Limits of
          services and handlers, and pauses, work.
        </p>
      )}
      {isPerdure() && <ServiceLimits />}
      <Rules />
      <Counters />
      <Queues />
    </Page>
  );
}
