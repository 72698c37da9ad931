import { expired } from './api-status.js';
import type { WatchedEvent, WatchedObject } from './serve-watch.js';

/** A node as the tests describe it. */
export interface NodeDraft {
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** Nodes of a cluster, with their history, as etcd keeps it. */
export class NodeTable {
  readonly #nodes = new Map<string, WatchedObject>();
  #events: WatchedEvent[] = [];
  readonly #listeners = new Set<(event: WatchedEvent) => void>();
  #version = 100;
  #oldest = 0;

  get version(): number {
    return this.#version;
  }

  list(): readonly WatchedObject[] {
    return [...this.#nodes.values()];
  }

  put(draft: NodeDraft): void {
    const { name } = draft.metadata;
    const type = this.#nodes.has(name) ? 'MODIFIED' : 'ADDED';
    this.#version += 1;
    const metadata = { ...draft.metadata, resourceVersion: String(this.#version) };
    const object = { kind: 'Node', apiVersion: 'v1', ...draft, metadata };
    this.#nodes.set(name, object);
    this.#report({ type, object, resourceVersion: this.#version });
  }

  remove(name: string): void {
    const known = this.#nodes.get(name);
    if (known === undefined) throw new Error(`there is no node ${name}`);
    this.#nodes.delete(name);
    this.#version += 1;
    const metadata = { ...known.metadata, resourceVersion: String(this.#version) };
    this.#report({
      type: 'DELETED',
      object: { ...known, metadata },
      resourceVersion: this.#version,
    });
  }

  /** Forgets the history, as etcd does. */
  compact(): void {
    this.#version += 1;
    this.#oldest = this.#version;
  }

  /** Goes back to an earlier version, as a restored backup does. */
  restore(version: number, nodes: readonly NodeDraft[]): void {
    this.#events = [];
    this.#nodes.clear();
    this.#version = version - nodes.length;
    for (const node of nodes) this.put(node);
  }

  /** @throws ApiFailure 410. */
  eventsSince(resourceVersion: number): readonly WatchedEvent[] {
    if (resourceVersion < this.#oldest) throw expired(resourceVersion, this.#oldest);
    return this.#events.filter((event) => event.resourceVersion > resourceVersion);
  }

  listen(listener: (event: WatchedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #report(event: WatchedEvent): void {
    this.#events.push(event);
    for (const listener of [...this.#listeners]) listener(event);
  }
}
