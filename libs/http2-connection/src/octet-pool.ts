/** Memory account of one connection. */
export interface OctetAccount {
  /** Bytes that count for the connection now. */
  readonly held: number;
  /** Replaces the count. The pool may then end a connection to free memory. */
  set(held: number): void;
  /** Later changes have no effect. Idempotent. */
  release(): void;
}

/** Memory limit that several connections share. */
export interface OctetPool {
  /** @param end - Ends the account's connection. The pool calls it to free memory for others, after releasing the account. */
  open(end: () => void): OctetAccount;
}

/** No shared limit: each connection has only its own limits. */
export const NO_POOL: OctetPool = {
  open: () => {
    const account = {
      held: 0,
      set: (held: number): void => void (account.held = held),
      release: (): void => account.set(0),
    };
    return account;
  },
};
