import type { ClientIdentity } from '@wins/base';
import type { ProcessOwner } from '../supervision/managed-process.js';

const clients = Symbol('client');

interface DetachedOwner extends ProcessOwner {
  readonly [clients]: ClientIdentity;
}

/** Names in the audit log of a detached run; unverified, because the client chose them. */
export interface DetachedOwnerOptions {
  /** The client's own name for itself. */
  readonly clientSays?: string | undefined;
  /** Name of a detached run. */
  readonly runName?: string | undefined;
}

/** Creates the owner of a run that outlives the daemon: a client, which need not be connected. */
export function detachedOwner(
  name: string,
  client: ClientIdentity,
  { clientSays, runName }: DetachedOwnerOptions = {},
): ProcessOwner {
  const { key, description, names } = client;
  const owner: DetachedOwner = {
    id: `detached:${name}`,
    label: clientSays,
    runName,
    client: { key, description: { ...description }, names },
    disconnected: new AbortController().signal,
    [clients]: client,
  };
  return owner;
}

/** Returns undefined unless `owner` owns a run that outlives the daemon. */
export function detachedClientOf(owner: ProcessOwner): ClientIdentity | undefined {
  return (owner as Partial<DetachedOwner>)[clients];
}
