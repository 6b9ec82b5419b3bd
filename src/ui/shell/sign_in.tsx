import { useState } from "preact/hooks";
import { credentials, setToken } from "../data/client.ts";

/** Asks for a bearer token. It is kept for this tab only. `refusal`: why the last one was refused. */
export function SignIn(
  { refusal, onDone }: { readonly refusal: string; readonly onDone: () => void },
) {
  const [token, type] = useState("");
  const wasShown = "authorization" in credentials();
  const send = (event: Event) => {
    event.preventDefault();
    setToken(token.trim());
    onDone();
  };
  return (
    <section class="page">
      <h1>The admin API asks for a token</h1>
      {wasShown && <p role="alert">The last one was refused: {refusal}</p>}
      <form class="fields" onSubmit={send}>
        <label>
          Token
          <input
            type="password"
            autocomplete="current-password"
            required
            value={token}
            onInput={({ currentTarget }) => type(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">Continue</button>
      </form>
    </section>
  );
}
