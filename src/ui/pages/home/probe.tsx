import { useEffect, useState } from "preact/hooks";
import { api, ApiError } from "../../data/client.ts";
import { messageOf } from "../../data/commands.ts";
import { go, link, linkWith } from "../../state/router.ts";

/** An endpoint is asked for this often, in ms, and so many times: each is a request of the server to it. */
const [EVERY_MS, TRIES_MAX] = [2_000, 90];
/** Where examples of SDKs listen. */
const USUAL = "http://localhost:9080";

const register = (uri: string) => go(linkWith(link("deployments"), { register: uri }));

/** Registers the first endpoint: now, or as soon as it answers. */
export function RegisterFirst() {
  const [uri, type] = useState(USUAL);
  const [isWaiting, wait] = useState(false);
  return (
    <form
      class="row centered"
      onSubmit={(event) => {
        event.preventDefault();
        register(uri);
      }}
    >
      <label>
        Address of the endpoint{" "}
        <input
          type="url"
          required
          value={uri}
          onInput={({ currentTarget }) => {
            wait(false);
            type(currentTarget.value);
          }}
        />
      </label>
      <button type="submit" class="primary">Register…</button>
      <button type="button" aria-pressed={isWaiting} onClick={() => wait(!isWaiting)}>
        Wait for it
      </button>
      <span role="status">{isWaiting && <Waiting uri={uri} onEnd={() => wait(false)} />}</span>
    </form>
  );
}

/** Asks for an endpoint until there is one, by dry runs, which change nothing. */
function Waiting({ uri, onEnd }: { readonly uri: string; readonly onEnd: () => void }) {
  const [why, say] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (triesLeft: number) => {
      try {
        const body = { uri, dry_run: true };
        await api("deployments", { method: "POST", body, signal: abort.signal });
        return register(uri);
      } catch (cause) {
        if (abort.signal.aborted) return;
        say(messageOf(cause));
        // A wrong address does not become right.
        const isOver = triesLeft === 0 || (cause instanceof ApiError && cause.status === 400);
        if (isOver) return void setTimeout(onEnd, EVERY_MS);
      }
      timer = setTimeout(() => void ask(triesLeft - 1), EVERY_MS);
    };
    void ask(TRIES_MAX);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [uri]);
  return <>Waiting for an endpoint at {uri}… {why !== "" && <small>{why}</small>}</>;
}
