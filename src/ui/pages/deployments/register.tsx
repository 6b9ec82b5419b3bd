import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { addressOf, type Deployment, type Service } from "../../data/catalog.ts";
import { refreshAll } from "../../data/resource.ts";
import { go, link } from "../../state/router.ts";
import { toast } from "../../state/toasts.ts";
import { Dialog } from "../../widgets/dialog.tsx";
import { Failed } from "../../widgets/empty.tsx";
import { DiffView } from "./diff_view.tsx";
import { diffOf } from "./diff.ts";
import { Form } from "./register_form.tsx";
import {
  headersOf,
  type Offer,
  type Registration,
  useRegistration,
  type Wanted,
} from "./registration.ts";

export interface RegisterProps {
  /** The deployment that is updated. Absent: a new one is registered. */
  readonly known?: Deployment;
  /** What the address field begins with. */
  readonly uri?: string;
  readonly services: readonly Service[];
  readonly deployments: readonly Deployment[];
  readonly onClose: () => void;
}

const DIFFERS = "META0004";
const RETYPED = ["META0006", "META0016"];

/** Registers an endpoint or updates a deployment: address, dry run, what changes, and then the change. */
export function RegisterDialog(props: RegisterProps) {
  const { known, uri, onClose } = props;
  const registration = useRegistration(known);
  const { offer } = registration;
  const [wanted, want] = useState<Wanted>({
    uri: known?.uri ?? uri ?? "",
    role: "",
    isHttp11: known?.http_version === "HTTP/1.1",
    ...headersOf(known),
    isForced: false,
    isBreaking: false,
  });
  const confirm = async () => {
    const id = await registration.confirm();
    if (id === undefined) return;
    toast("done", known ? `Updated ${id}` : `Registered ${id}`);
    onClose();
    refreshAll();
    go(link("deployments", id));
  };
  return (
    <Dialog
      title={known ? "Update the deployment" : "Register a deployment"}
      isOpen
      onClose={onClose}
    >
      {offer
        ? <Review {...props} {...{ offer, registration }} onConfirm={() => void confirm()} />
        : (
          <Form
            {...{ wanted, want, registration, isUpdate: known !== undefined }}
            problem={<Problem {...{ registration, wanted, want }} />}
          />
        )}
    </Dialog>
  );
}

/** What was refused, and the button that allows it. */
function Problem({ registration, wanted, want }: {
  readonly registration: Registration;
  readonly wanted: Wanted;
  readonly want: (wanted: Wanted) => void;
}) {
  const { error } = registration;
  if (!error) return null;
  const again = (change: Partial<Wanted>) => {
    const next = { ...wanted, ...change };
    want(next);
    void registration.check(next);
  };
  return (
    <>
      <Failed error={error} />
      {error.code === DIFFERS && (
        <button type="button" onClick={() => again({ isForced: true })}>
          Check again, and overwrite it
        </button>
      )}
      {RETYPED.includes(error.code ?? "") && (
        <button
          type="button"
          onClick={() => again({ isBreaking: true, isForced: true })}
        >
          Check again, and allow the change
        </button>
      )}
    </>
  );
}

interface ReviewProps extends RegisterProps {
  readonly offer: Offer;
  readonly registration: Registration;
  readonly onConfirm: () => void;
}

/** What the endpoint announces beside what is served now. */
function Review({ offer, registration, onConfirm, known, services, deployments }: ReviewProps) {
  const confirm = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => confirm.current?.focus(), []);
  const { wanted, hasFallenBack } = offer;
  const there = known ?? deployments.find(({ uri, arn }) => sameUri(uri ?? arn ?? "", wanted.uri));
  const diffs = diffOf(services, offer.services, wanted.isForced ? there?.id : undefined);
  const isSame = !known && there !== undefined && diffs.every(({ kind }) => kind === "same");
  return (
    <div class="fields review">
      {hasFallenBack && (
        <p role="status">It does not answer over HTTP/2, and will be called over HTTP/1.1.</p>
      )}
      <p>
        <bdi>{wanted.uri}</bdi> · {offer.sdkVersion ?? "unknown SDK"}
      </p>
      {there && <There {...{ there, isSame, isUpdate: known !== undefined, wanted }} />}
      <DiffView diffs={diffs} />
      {registration.error && <Failed error={registration.error} />}
      <div class="actions">
        <button type="button" onClick={registration.back}>Back</button>
        <button
          ref={confirm}
          type="button"
          class="primary"
          disabled={registration.isBusy}
          onClick={onConfirm}
        >
          {known ? "Update" : "Register"}
        </button>
      </div>
    </div>
  );
}

/** What happens to the deployment with this address. */
function There({ there, isSame, isUpdate, wanted }: {
  readonly there: Deployment;
  readonly isSame: boolean;
  readonly isUpdate: boolean;
  readonly wanted: Wanted;
}) {
  const to = <a href={link("deployments", there.id)}>{addressOf(there)}</a>;
  if (isUpdate) {
    return wanted.isForced
      ? (
        <p>
          It is called at this address and serves what is shown here, invocations that run included.
        </p>
      )
      : <p>It is called at this address and goes on to serve what it serves.</p>;
  }
  if (wanted.isForced) {
    return <p>{to} is overwritten: invocations that are pinned to it go on with the new code.</p>;
  }
  return isSame ? <p>{to} is registered and serves the same: nothing changes.</p> : null;
}

function sameUri(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).href === new URL(b).href;
}
