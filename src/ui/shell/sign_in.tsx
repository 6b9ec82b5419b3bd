import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ApiError, hasToken } from "../data/client.ts";
import { messageOf } from "../data/commands.ts";
import { identity, signIn } from "../data/session.ts";

/**
 * Asks for a token, and signs in with it. `refusal`: why the server let nobody in. `onDone`: called once
 * it lets this one in, or may.
 */
export function SignIn(
  { refusal, onDone }: { readonly refusal: ApiError; readonly onDone: () => void },
) {
  const { input, failure, isBusy, send } = useForm(onDone);
  const said = failure ?? reasonOf(refusal);
  return (
    <section class="page">
      <h1>The admin API asks for a token</h1>
      {said !== undefined && <p role="alert" id="refusal">{said}</p>}
      <form class="fields" onSubmit={(event) => void send(event)}>
        <label>
          Token
          <input
            ref={input}
            type="password"
            autocomplete="current-password"
            required
            aria-describedby={said === undefined ? undefined : "refusal"}
          />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>Sign in</button>
      </form>
    </section>
  );
}

/** The field, and what becomes of it when it is sent. */
function useForm(onDone: () => void) {
  const input = useRef<HTMLInputElement>(null);
  const [failure, fail] = useState<string>();
  const [isBusy, work] = useState(false);
  // Before the browser paints: who sees the field can type into it.
  useLayoutEffect(() => {
    document.title = "Sign in · perdure";
    input.current?.focus();
  }, []);
  const send = async (event: Event) => {
    event.preventDefault();
    work(true);
    try {
      await signIn(input.current?.value.trim() ?? "");
      onDone();
    } catch (cause) {
      fail(`The server refused it: ${messageOf(cause)}`);
      input.current?.focus();
      input.current?.select();
    }
    work(false);
  };
  return { input, failure, isBusy, send };
}

/** What somebody who has just opened the page need not be told: that they have shown no token. */
function reasonOf({ status, code, message }: ApiError): string | undefined {
  if (code === "META0021") return message;
  // The browser has deleted the cookie at its time.
  if (identity.value) return "The session has ended. Sign in again";
  if (status === 401 && !hasToken()) return undefined;
  return `The last one was refused: ${message}`;
}
