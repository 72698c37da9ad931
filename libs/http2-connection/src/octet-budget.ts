/** One holder's part of an {@link OctetBudget}. */
export interface OctetAccount {
  /** Octets that are held now. */
  readonly held: number;
  /** Says how many octets are held now. Whoever holds the most is told to end when all together hold too many. */
  set(held: number): void;
  /** Gives all back; later changes have no effect. Idempotent. */
  close(): void;
}

/**
 * What several connections may hold together. When it is too much, the one that holds the most has to end, so that few who
 * hold much cannot keep out many who hold little.
 */
export class OctetBudget {
  readonly #accounts = new Map<OctetAccount, () => void>();
  #total = 0;

  readonly #limit: number;

  /** @param limit - Octets, all holders together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Octets that are held by all. */
  get held(): number {
    return this.#total;
  }

  /** @param end - Must close the account at once. */
  open(end: () => void): OctetAccount {
    let held = 0;
    let open = true;
    const account: OctetAccount = {
      get held() {
        return held;
      },
      set: (now) => {
        if (!open) return;
        this.#total += now - held;
        held = now;
        if (this.#total > this.#limit) this.#endLargest();
      },
      close: () => {
        open = false;
        this.#total -= held;
        held = 0;
        this.#accounts.delete(account);
      },
    };
    this.#accounts.set(account, end);
    return account;
  }

  #endLargest(): void {
    let largest: OctetAccount | undefined;
    for (const account of this.#accounts.keys()) {
      if (largest === undefined || account.held > largest.held) largest = account;
    }
    if (largest === undefined) return;
    const end = this.#accounts.get(largest);
    largest.close();
    end?.();
  }
}
