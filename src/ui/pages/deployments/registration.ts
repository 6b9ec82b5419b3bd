import { useState } from "preact/hooks";
import type { Deployment, HeaderValue, Service } from "../../data/catalog.ts";
import { api, ApiError } from "../../data/client.ts";
import { type Pair, recordOf } from "../../widgets/pairs.tsx";

/** What the form asks for. */
export interface Wanted {
  /** The URL of an endpoint, or the qualified ARN of a function. */
  readonly uri: string;
  /** In whose name a function is called. Empty: in that of the server. */
  readonly role: string;
  readonly isHttp11: boolean;
  /** Headers that are typed. They take the place of those that are kept. */
  readonly headers: readonly Pair[];
  /** Headers that the deployment has, whose values are not shown: they stay unless they are removed. */
  readonly kept: readonly (readonly [name: string, value: HeaderValue])[];
  /** Of a registration: the deployment with this address is overwritten. Of an update: what it serves. */
  readonly isForced: boolean;
  /** Services may change their type. */
  readonly isBreaking: boolean;
}

/** What an endpoint announces, as a dry run answers it. */
export interface Offer {
  readonly wanted: Wanted;
  readonly id: string;
  readonly services: readonly Service[];
  readonly sdkVersion: string | undefined;
  /** It speaks no HTTP/2: the dry run was repeated over HTTP/1.1. */
  readonly hasFallenBack: boolean;
}

/** The headers of a deployment, as an update begins. */
export function headersOf(known: Deployment | undefined): Pick<Wanted, "headers" | "kept"> {
  return { headers: [], kept: Object.entries(known?.additional_headers ?? {}) };
}

/** The headers to send: those that are typed, and others that are kept. Undefined: they stay as they are. */
function allHeaders(
  { headers, kept }: Wanted,
  known: Deployment | undefined,
): Record<string, HeaderValue> | undefined {
  const typed = recordOf(headers);
  const names = new Set(Object.keys(typed).map((name) => name.toLowerCase()));
  const before = Object.keys(known?.additional_headers ?? {});
  if (known && names.size === 0 && kept.length === before.length) return undefined;
  const others = kept.filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(others), ...typed };
}

type Answer = Pick<Deployment<Service>, "id" | "services" | "sdk_version">;

/** The endpoint could not be asked: it may speak another HTTP. */
const NO_CONTACT = "META0003";

/** Whether a function is registered, which is called by its ARN. */
export function isFunction({ uri }: Wanted): boolean {
  return uri.trim().startsWith("arn:");
}

function addressOf(wanted: Wanted): object {
  const uri = wanted.uri.trim();
  if (!isFunction(wanted)) return { uri, use_http_11: wanted.isHttp11 };
  return { arn: uri, ...(wanted.role.trim() !== "" && { assume_role_arn: wanted.role.trim() }) };
}

function send(wanted: Wanted, known: Deployment | undefined, isDry: boolean): Promise<Answer> {
  const address = {
    ...addressOf(wanted),
    additional_headers: allHeaders(wanted, known),
    dry_run: isDry,
  };
  if (known) {
    const body = { ...address, overwrite: wanted.isForced };
    return api(`deployments/${known.id}`, { method: "PATCH", body });
  }
  const body = { ...address, force: wanted.isForced, breaking: wanted.isBreaking, metadata: {} };
  return api("deployments", { method: "POST", body });
}

/** A dry run; over HTTP/1.1 if the endpoint does not answer over HTTP/2. Throws `ApiError`. */
async function ask(wanted: Wanted, known: Deployment | undefined): Promise<Offer> {
  const offerOf = ({ id, services, sdk_version: sdkVersion }: Answer, used: Wanted): Offer => (
    { id, services, sdkVersion, wanted: used, hasFallenBack: used !== wanted }
  );
  try {
    return offerOf(await send(wanted, known, true), wanted);
  } catch (cause) {
    const mayFallBack = cause instanceof ApiError && !wanted.isHttp11 &&
      !isFunction(wanted) &&
      (cause.code === NO_CONTACT || cause.status >= 500);
    if (!mayFallBack) throw cause;
    const other = { ...wanted, isHttp11: true };
    // The first failure says more: the second one only shows that HTTP/1.1 is not the reason.
    return offerOf(await send(other, known, true).catch(() => Promise.reject(cause)), other);
  }
}

export interface Registration {
  readonly isBusy: boolean;
  readonly error: ApiError | undefined;
  /** What the dry run found. Undefined: the form is shown. */
  readonly offer: Offer | undefined;
  /** Asks the endpoint without a change. */
  check(wanted: Wanted): Promise<void>;
  /** Carries out what the dry run showed. Answers the id, or undefined when it failed. */
  confirm(): Promise<string | undefined>;
  /** Back to the form. */
  back(): void;
}

/** A registration, or an update of a known deployment: first a dry run, then the change. */
export function useRegistration(known: Deployment | undefined): Registration {
  const [offer, setOffer] = useState<Offer>();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const run = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    setBusy(true);
    setError(undefined);
    try {
      return await work();
    } catch (cause) {
      setError(cause instanceof ApiError ? cause : new ApiError(0, String(cause)));
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return {
    ...{ isBusy, error, offer },
    check: async (wanted) => {
      const found = await run(() => ask(wanted, known));
      if (found) setOffer(found);
    },
    confirm: async () => (await run(() => send(offer!.wanted, known, false)))?.id,
    back: () => {
      setError(undefined);
      setOffer(undefined);
    },
  };
}
