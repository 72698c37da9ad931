import { ObjectHistory } from './object-history.js';
import type { WatchedEvent, WatchedObject } from './serve-watch.js';

/** A node as the tests describe it. */
export interface NodeDraft {
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

/** Nodes of a cluster, with their history, as etcd keeps it. */
export class NodeTable extends ObjectHistory<WatchedEvent> {
  readonly #nodes = new Map<string, WatchedObject>();

  list(): readonly WatchedObject[] {
    return [...this.#nodes.values()];
  }

  put(draft: NodeDraft): void {
    const { name } = draft.metadata;
    const type = this.#nodes.has(name) ? 'MODIFIED' : 'ADDED';
    const resourceVersion = this.advance();
    const metadata = { ...draft.metadata, resourceVersion: String(resourceVersion) };
    const object = { kind: 'Node', apiVersion: 'v1', ...draft, metadata };
    this.#nodes.set(name, object);
    this.report({ type, object, resourceVersion });
  }

  remove(name: string): void {
    const known = this.#nodes.get(name);
    if (known === undefined) throw new Error(`there is no node ${name}`);
    this.#nodes.delete(name);
    const resourceVersion = this.advance();
    const metadata = { ...known.metadata, resourceVersion: String(resourceVersion) };
    this.report({ type: 'DELETED', object: { ...known, metadata }, resourceVersion });
  }

  /** Goes back to an earlier version, as a restored backup does. */
  restore(version: number, nodes: readonly NodeDraft[]): void {
    this.#nodes.clear();
    this.goBackTo(version - nodes.length);
    for (const node of nodes) this.put(node);
  }
}
