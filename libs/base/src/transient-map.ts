/**
 * Map for many short-lived values, such as connections. When a Map grows, V8 links the old table to the new one. An old table in
 * the old generation then keeps all later values alive until a full garbage collection. This map stores each value in a cell, and
 * empties the cell on deletion.
 */
export class TransientMap<Key extends number | bigint | string, Value> {
  readonly #entries = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#entries.set(key, { value });
    else entry.value = value;
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    entry.value = undefined;
    return this.#entries.delete(key);
  }

  keys(): IterableIterator<Key> {
    return this.#entries.keys();
  }

  /** Iterates over the values, oldest first, including those added during the iteration. */
  *values(): IterableIterator<Value> {
    for (const { value } of this.#entries.values()) if (value !== undefined) yield value;
  }
}
