import { WinsClientError } from './client-error.js';

/** The value of an answer, or the error of one without it. */
export function presentIn<T>(
  call: { readonly method: string; readonly address: string },
  value: T | undefined,
): T {
  if (value !== undefined) return value;
  const details = 'found an empty answer; wanted one with data';
  throw new WinsClientError('internal', { ...call, details });
}
