import type { Secret, WatchState } from '../ports.js';
import { ObjectFollower, type FollowedObjects, type FollowOptions } from './object-follower.js';
import { objectOf, readSecret, type SecretName } from './secret-object.js';

export interface FollowSecretOptions extends FollowOptions {
  /** Silence after which the Secret is read anew. */
  readonly quietMs: number;
}

export interface SecretListener {
  readonly onContact: () => void;
  /** Called once for each version; undefined when there is no Secret. */
  readonly onSecret: (secret: Secret | undefined) => void;
  readonly onState: (state: WatchState) => void;
}

/**
 * Follows one Secret until the signal aborts. Each connection reads it anew, because that costs as little as to continue at
 * the known version, and shows a Secret that was restored from a backup.
 */
export async function followSecret(
  name: SecretName,
  { quietMs, ...options }: FollowSecretOptions,
  { onContact, onSecret, onState }: SecretListener,
  signal: AbortSignal,
): Promise<void> {
  const objects: FollowedObjects = {
    what: 'the Secret',
    kind: 'Secret',
    path: `/api/v1/namespaces/${name.namespace}/secrets`,
    query: { fieldSelector: `metadata.name=${name.secretName}` },
    maxObjects: 1,
    streams: true,
    // As in the Go agent: each watch lasts five to ten minutes.
    watchS: 300,
    quietMs,
    resumes: 0,
    // A fleet of 1,000 agents that loses its server at once comes back at 28 agents a second.
    lossMs: 36_000,
    againMs: [38_000, 43_000],
  };
  let reported: string | undefined;
  const tell = (secret: Secret | undefined): void => {
    const version = secret === undefined ? 'none' : `${secret.uid}/${secret.resourceVersion}`;
    if (version === reported) return;
    onSecret(secret);
    reported = version;
  };
  const listener = {
    // Items of a list have no kind.
    read: (object: unknown) =>
      readSecret({ kind: 'Secret', apiVersion: 'v1', ...objectOf(object) }, name),
    onAll: ([secret]: readonly Secret[]) => tell(secret),
    onChange: (type: string, secret: Secret) => tell(type === 'DELETED' ? undefined : secret),
    onContact,
    onState,
  };
  await new ObjectFollower(objects, options).run(listener, signal);
}
