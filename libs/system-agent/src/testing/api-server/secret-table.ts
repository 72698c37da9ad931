import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { alreadyExists, badBase64, conflict, dataTooLong, notFound } from './api-status.js';
import { ObjectHistory } from './object-history.js';

export interface SecretObject {
  readonly kind: 'Secret';
  readonly apiVersion: 'v1';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly [key: string]: unknown;
  };
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface SecretEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: SecretObject;
  readonly resourceVersion: number;
  /** First word of the writer's User-Agent. */
  readonly manager: string;
}

/** A Secret as a client sends it. `SecretTable` sets its `uid`, its `resourceVersion` and a missing `type`. */
export interface SecretDraft {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly [key: string]: unknown;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly type?: string;
}

export interface SecretBackup {
  readonly secrets: ReadonlyMap<string, SecretObject>;
  readonly version: number;
}

/** Maximum size of all decoded values together. */
const MAX_DATA_BYTES = 1_048_576;

/** Keeps a history, as etcd does. */
export class SecretTable extends ObjectHistory<SecretEvent> {
  readonly #secrets = new Map<string, SecretObject>();

  list(namespace: string, name: string | undefined): readonly SecretObject[] {
    if (name !== undefined)
      return [this.find(namespace, name)].filter((found) => found !== undefined);
    return [...this.#secrets.values()].filter(({ metadata }) => metadata.namespace === namespace);
  }

  find(namespace: string, name: string): SecretObject | undefined {
    return this.#secrets.get(`${namespace}/${name}`);
  }

  get(namespace: string, name: string): SecretObject {
    const found = this.find(namespace, name);
    if (found === undefined) throw notFound(name);
    return found;
  }

  create(draft: SecretDraft, manager: string): SecretObject {
    const { namespace, name } = draft.metadata;
    if (this.find(namespace, name) !== undefined) throw alreadyExists(name);
    checkData(draft);
    const identity = { uid: randomUUID(), creationTimestamp: now() };
    return this.#put('ADDED', draft, identity, manager);
  }

  /** @param isDryRun - Checks everything, but changes nothing. */
  replace(draft: SecretDraft, manager: string, isDryRun = false): SecretObject {
    const { namespace, name, uid, resourceVersion } = draft.metadata;
    const old = this.get(namespace, name);
    const { uid: oldUid, creationTimestamp } = old.metadata;
    if (uid !== undefined && uid !== oldUid) throw conflict(name, wrongUid(draft, oldUid));
    if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion) {
      throw conflict(
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
    checkData(draft);
    if (isUnchanged(old, draft)) return old;
    if (isDryRun) return { ...old, ...(draft.data && { data: sorted(draft.data) }) };
    return this.#put('MODIFIED', draft, { uid: oldUid, creationTimestamp }, manager);
  }

  remove(namespace: string, name: string, manager: string): SecretObject {
    const old = this.get(namespace, name);
    this.#secrets.delete(`${namespace}/${name}`);
    const resourceVersion = this.advance();
    const metadata = { ...old.metadata, resourceVersion: String(resourceVersion) };
    const object = { ...old, metadata };
    this.report({ type: 'DELETED', object, resourceVersion, manager });
    return object;
  }

  /** The state at this moment, for `restore`. */
  backup(): SecretBackup {
    return { secrets: new Map(this.#secrets), version: this.version };
  }

  /** Goes back to a backup, with its versions and the uids of its Secrets. Tells no watch, as etcd does. */
  restore({ secrets, version }: SecretBackup): void {
    this.#secrets.clear();
    for (const [key, secret] of secrets) this.#secrets.set(key, secret);
    this.goBackTo(version);
  }

  #put(
    type: 'ADDED' | 'MODIFIED',
    draft: SecretDraft,
    { uid, creationTimestamp }: { uid: string; creationTimestamp: unknown },
    manager: string,
  ): SecretObject {
    const resourceVersion = this.advance();
    const { name, namespace, ...others } = draft.metadata;
    const kind = draft.type ?? 'Opaque';
    const metadata = {
      name,
      namespace,
      ...others,
      uid,
      resourceVersion: String(resourceVersion),
      creationTimestamp,
      managedFields: [managedFields(draft, manager)],
    };
    const object: SecretObject = {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata,
      ...(draft.data && { data: sorted(draft.data) }),
      type: kind,
    };
    this.#secrets.set(`${namespace}/${name}`, object);
    this.report({ type, object, resourceVersion, manager });
    return object;
  }
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+/, '');
}

function sorted(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Records only the last writer. */
function managedFields({ data = {} }: SecretDraft, manager: string): object {
  const fields = Object.fromEntries(Object.keys(sorted(data)).map((key) => [`f:${key}`, {}]));
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: now(),
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { '.': {}, ...fields }, 'f:type': {} },
  };
}

/** A write without a change creates no version. */
function isUnchanged(old: SecretObject, draft: SecretDraft): boolean {
  const meta = ({ labels, annotations }: Record<string, unknown>) => [labels, annotations];
  return (
    isDeepStrictEqual(old.data ?? {}, draft.data ?? {}) &&
    isDeepStrictEqual(meta(old.metadata), meta(draft.metadata))
  );
}

function checkData({ metadata: { name }, data = {} }: SecretDraft): void {
  let bytes = 0;
  for (const value of Object.values(data)) {
    const wrong = /[^A-Za-z0-9+/=]/.exec(value);
    if (wrong !== null) throw badBase64(wrong.index);
    if (value.length % 4 !== 0) throw badBase64(value.length - (value.length % 4));
    bytes += Buffer.byteLength(value, 'base64');
  }
  if (bytes > MAX_DATA_BYTES) throw dataTooLong(name);
}

function wrongUid({ metadata }: SecretDraft, uid: string): string {
  return (
    `StorageError: invalid object, Code: 4, Key: /registry/secrets/${metadata.namespace}/${metadata.name}, ResourceVersion: 0, ` +
    `AdditionalErrorMsg: Precondition failed: UID in precondition: ${metadata.uid ?? ''}, UID in object meta: ${uid}`
  );
}
