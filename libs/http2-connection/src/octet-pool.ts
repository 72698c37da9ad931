/** Octets that one connection holds. */
export interface OctetAccount {
  readonly held: number;
  /** Says how many octets are held now. */
  set(held: number): void;
  /** Gives all back; later changes have no effect. Idempotent. */
  release(): void;
}

/** Memory that several connections may hold together; the application shares it among them. */
export interface OctetPool {
  /** @param end - Ends the connection, so that others have room. The account has been released by then. */
  open(end: () => void): OctetAccount;
}

/** For connections that are counted each by itself. */
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
