import { getSystemErrorMap } from 'node:util';

/** The `code` of an error that Node raised, such as `ENOENT`; undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  // Not `instanceof Error`, which is false for an error from another realm.
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The message of an error, or `String(error)` for anything else that was thrown. */
export function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    if (typeof error.message === 'string') return error.message;
  }
  return String(error);
}

/**
 * Describes an error in words, without the call and the path that Node's messages contain. A system error is described by its
 * meaning and its code, such as `permission denied (EACCES)`. Any other error is described by its message.
 */
export function reasonOf(error: unknown): string {
  const code = errnoOf(error);
  const [, meaning] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return meaning === undefined ? messageOf(error) : `${meaning} (${code})`;
}
