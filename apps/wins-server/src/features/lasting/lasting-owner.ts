import type { ClientIdentity } from '@wins/base';
import type { ProcessOwner } from '@wins/process-manager';

const clients = Symbol('client');

interface LastingOwner extends ProcessOwner {
  readonly [clients]: ClientIdentity;
}

/** Creates the owner of a detached run: a client, which need not be connected. */
export function lastingOwner(
  label: string,
  client: ClientIdentity,
  starter?: ProcessOwner,
): ProcessOwner {
  const { key, description, names } = client;
  const owner: LastingOwner = {
    id: `lasting:${label}`,
    ...(starter?.label !== undefined && { label: starter.label }),
    client: { key, description: { ...description }, names },
    disconnected: new AbortController().signal,
    [clients]: client,
  };
  return owner;
}

/** Returns undefined unless `owner` owns a detached run. */
export function lastingClientOf(owner: ProcessOwner): ClientIdentity | undefined {
  return (owner as Partial<LastingOwner>)[clients];
}
