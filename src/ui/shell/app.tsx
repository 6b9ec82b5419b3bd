import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, refused } from "../data/client.ts";
import { readServer, server } from "../data/server.ts";
import { readIdentity } from "../data/session.ts";
import { go, link } from "../state/router.ts";
import { isTyping, useKeys } from "../state/keys.ts";
import { routes } from "../routes.ts";
import { OpenedDialog } from "../widgets/dialog.tsx";
import { Failed } from "../widgets/empty.tsx";
import { placeOf } from "./choices.ts";
import { Header } from "./header.tsx";
import { KeySheet, openKeySheet } from "./key_sheet.tsx";
import { Outlet } from "./outlet.tsx";
import { openPalette, Palette } from "./palette.tsx";
import { SignIn } from "./sign_in.tsx";
import { Toasts } from "./toasts.tsx";

/** Why the server did not say what it is. Undefined: it did, or has not been asked. */
const failure = signal<ApiError | undefined>(undefined);

/** After the server did not say what it is, until it is asked again. In ms. */
const RETRY_MS = 2_000;

/** Asks the server what it is, again and again unless it wants a token. */
export async function connect(): Promise<void> {
  try {
    await readServer();
    failure.value = refused.value = undefined;
    await readIdentity();
  } catch (cause) {
    const why = cause instanceof ApiError ? cause : new ApiError(0, String(cause));
    const isClosed = CLOSED.has(why.status);
    failure.value = isClosed ? undefined : why;
    if (isClosed) refused.value = why;
    else setTimeout(() => void connect(), RETRY_MS);
  }
}

/** No token or a wrong one, one without a role, and too many wrong ones. */
const CLOSED = new Set([401, 403, 429]);

// Nothing is asked for while nobody is let in: what pages and streams do depends on the server.
effect(() => {
  if (refused.value) server.value = undefined;
});

/** After signing in, the keys go on in the page and not in a field that is gone. */
async function enter(): Promise<void> {
  await connect();
  document.querySelector<HTMLElement>("main")?.focus();
}

function focusActions(): void {
  document.querySelector<HTMLElement>("main .actions :is(a, button, select)")?.focus();
}

/** An id that is pasted where nothing is typed is opened. */
function usePastedIds(): void {
  useEffect(() => {
    const open = (event: ClipboardEvent) => {
      const to = placeOf(event.clipboardData?.getData("text") ?? "");
      if (to !== undefined && !isTyping(event.target)) go(to);
    };
    document.addEventListener("paste", open);
    return () => document.removeEventListener("paste", open);
  }, []);
}

/** The frame of all pages. */
export function App() {
  useKeys("Everywhere", {
    "ctrl+k": { label: "Go to anything", run: openPalette },
    "?": { label: "Show the keys", run: openKeySheet },
    ".": { label: "Go to the actions of the page", run: focusActions },
    ...Object.fromEntries(
      routes.filter(({ nav }) => nav).map((
        { path, title, nav },
      ) => [`g ${nav!.key}`, { label: `Go to ${title}`, run: () => go(link(path)) }]),
    ),
  });
  usePastedIds();
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        Skip to content
      </button>
      <Header />
      <main tabIndex={-1}>
        {failure.value && <Failed error={failure.value} />}
        {refused.value
          ? <SignIn refusal={refused.value} onDone={() => void enter()} />
          : <Outlet />}
      </main>
      <OpenedDialog />
      <Toasts />
      <Palette />
      <KeySheet />
    </>
  );
}
