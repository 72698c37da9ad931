/**
 * Map for many short-lived values, such as connections. When a Map grows, V8 links the old table to the new one. An old table in
 * the old generation then keeps all later values alive until a full garbage collection. This map stores each value in a cell, and
 * empties the cell on deletion.
 */
export class TransientMap<Key extends number | bigint | string, Value> {
  readonly #places = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#places.size;
  }

  get(key: Key): Value | undefined {
    return this.#places.get(key)?.value;
  }

  has(key: Key): boolean {
    return this.#places.has(key);
  }

  set(key: Key, value: Value): void {
    const place = this.#places.get(key);
    if (place === undefined) this.#places.set(key, { value });
    else place.value = value;
  }

  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    place.value = undefined;
    return this.#places.delete(key);
  }

  keys(): IterableIterator<Key> {
    return this.#places.keys();
  }

  /** Iterates over the values, oldest first, including those added during the iteration. */
  *values(): IterableIterator<Value> {
    for (const { value } of this.#places.values()) if (value !== undefined) yield value;
  }
}
