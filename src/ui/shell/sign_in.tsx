import { useState } from "preact/hooks";
import { setToken } from "../data/client.ts";

/** Asks for the bearer token of a Worker. It is kept for this tab only. */
export function SignIn({ onDone }: { readonly onDone: () => void }) {
  const [token, type] = useState("");
  const send = (event: Event) => {
    event.preventDefault();
    setToken(token);
    onDone();
  };
  return (
    <section class="page">
      <h1>The admin API asks for a token</h1>
      <form class="fields" onSubmit={send}>
        <label>
          Token
          <input
            type="password"
            autocomplete="current-password"
            value={token}
            onInput={({ currentTarget }) => type(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">Continue</button>
      </form>
    </section>
  );
}
