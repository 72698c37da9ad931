import { expired } from './api-status.js';

export interface ObjectEvent<Object> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Object;
  readonly resourceVersion: number;
}

/** The versions of the objects of one kind, and their events, as etcd keeps them. */
export class ObjectHistory<Event extends ObjectEvent<unknown>> {
  #events: Event[] = [];
  readonly #listeners = new Set<(event: Event) => void>();
  #version = 100;
  #oldest = 0;

  get version(): number {
    return this.#version;
  }

  /** Includes compacted events. */
  get events(): readonly Event[] {
    return this.#events;
  }

  /** Takes the next version, as a change elsewhere in the cluster does. */
  advance(): number {
    return (this.#version += 1);
  }

  /** Forgets the history, as etcd does. */
  compact(): void {
    this.#oldest = this.advance();
  }

  /** Goes back to an earlier version. Tells no watch, as etcd does. */
  protected goBackTo(version: number): void {
    this.#version = version;
    this.#events = this.#events.filter((event) => event.resourceVersion <= version);
  }

  /** @throws ApiFailure 410. */
  eventsSince(resourceVersion: number): readonly Event[] {
    if (resourceVersion < this.#oldest) throw expired(resourceVersion, this.#oldest);
    return this.#events.filter((event) => event.resourceVersion > resourceVersion);
  }

  listen(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  protected report(event: Event): void {
    this.#events.push(event);
    for (const listener of [...this.#listeners]) listener(event);
  }
}
