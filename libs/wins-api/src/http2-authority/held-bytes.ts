/** A buffer that grows by doubling: a client that sends single octets costs no more than one that does not. */
export class HeldBytes {
  private store = Buffer.alloc(0);
  private used = 0;

  /** Octets held now. */
  get length(): number {
    return this.used;
  }

  /** Copies `piece` to the end. */
  append(piece: Buffer): void {
    const needed = this.used + piece.length;
    if (needed > this.store.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.store.length * 2, 1024));
      this.store.copy(larger, 0, 0, this.used);
      this.store = larger;
    }
    piece.copy(this.store, this.used);
    this.used = needed;
  }

  /** A view of what is held, valid until the next `append` or `take`. */
  view(start: number, end: number): Buffer {
    return this.store.subarray(start, end);
  }

  /** Gives away all that is held and starts anew. */
  take(): Buffer {
    const taken = this.store.subarray(0, this.used);
    this.store = Buffer.alloc(0);
    this.used = 0;
    return taken;
  }
}
