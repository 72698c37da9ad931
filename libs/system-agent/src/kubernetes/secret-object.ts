import { quoteText } from '@wins/base';
import { AgentError } from '../agent-error.js';
import type { Secret } from '../ports.js';

export interface SecretName {
  readonly namespace: string;
  readonly secretName: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** @throws AgentError `refused` for anything but the named Secret. */
export function readSecret(value: unknown, { namespace, secretName }: SecretName): Secret {
  const object = objectOf(value);
  const metadata = objectOf(object['metadata']);
  const { name, namespace: space, uid, resourceVersion } = metadata;
  if (object['kind'] !== 'Secret' || name !== secretName || space !== namespace) {
    // Omit the found names: a server could put the token into them.
    throw unusable(
      `found another object; wanted the Secret ${quoteText(secretName)} of ${quoteText(namespace)}`,
    );
  }
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string' || resourceVersion === '')
    throw unusable('found a Secret without uid or resourceVersion');
  const entries = Object.entries(object['data'] === undefined ? {} : objectOf(object['data']));
  const data = entries.map(([key, text]) => {
    // Go writes an empty value as null.
    if (text !== null && typeof text !== 'string') throw unusable('found data that is not text');
    return [key, Buffer.from(text ?? '', 'base64')] as const;
  });
  return { uid, resourceVersion, data: Object.fromEntries(data), object };
}

export function changedObject(
  { object, resourceVersion }: Secret,
  changes: Readonly<Record<string, Buffer>>,
): JsonObject {
  const values = Object.entries(changes).map(([key, value]) => [key, value.toString('base64')]);
  return {
    ...object,
    metadata: { ...objectOf(object['metadata']), resourceVersion },
    data: { ...(object['data'] as JsonObject | undefined), ...Object.fromEntries(values) },
  };
}

/** @throws AgentError `refused`. */
export function objectOf(value: unknown): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as JsonObject;
  throw unusable('found a value that is no object');
}

export function unusable(found: string): AgentError {
  return new AgentError('refused', `cannot use what the API server sent: ${found}`);
}
