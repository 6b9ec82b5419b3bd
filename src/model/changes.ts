/** What the commits of a partition have changed since a cursor. */
export interface Changes {
  /** For the next request. */
  readonly cursor: string;
  /** Ids of invocations. */
  readonly invocations: readonly string[];
  /** Names of services: of their invocations, states or promises. */
  readonly services: readonly string[];
  /** Since when is not known: anything may have changed. */
  readonly isAll?: boolean;
}
