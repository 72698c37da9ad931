/**
 * Map for values that come and go by the thousand, such as connections. V8 links each table that a Map or Set has filled to the next
 * one. So once one table is in the old generation, all that its successors ever held gets there too, and stays until the whole heap is
 * collected. The tables of this map hold places, and a place is emptied with its value.
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

  /** Adds a value, or replaces the one of that key. */
  set(key: Key, value: Value): void {
    const place = this.#places.get(key);
    if (place === undefined) this.#places.set(key, { value });
    else place.value = value;
  }

  /** Returns whether there was one. */
  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    place.value = undefined;
    return this.#places.delete(key);
  }

  keys(): IterableIterator<Key> {
    return this.#places.keys();
  }

  /** The values, the oldest first. Those that are added meanwhile come too. */
  *values(): IterableIterator<Value> {
    for (const { value } of this.#places.values()) if (value !== undefined) yield value;
  }
}
