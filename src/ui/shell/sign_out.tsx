import { messageOf } from "../data/commands.ts";
import { identity, isSignedIn, signOut } from "../data/session.ts";
import { toast } from "../state/toasts.ts";
import { Icon } from "../widgets/icon.tsx";

/** Signs out, and says who is signed in. Nothing where nobody is. */
export function SignOut() {
  const who = identity.value;
  if (!isSignedIn()) return null;
  const leave = () => signOut().catch((cause) => toast("failed", messageOf(cause)));
  return (
    <button
      type="button"
      class="icon"
      aria-label="Sign out"
      title={who ? `Sign out ${who.identity} (${who.level})` : "Sign out"}
      onClick={() => void leave()}
    >
      <Icon name="leave" />
    </button>
  );
}
