import { isDeepStrictEqual } from 'node:util';
import type { StateOf } from './item.js';

/** Whether two states of one thing are the same; absent is undefined. */
export function isSameState(a: StateOf | undefined, b: StateOf | undefined): boolean {
  return isDeepStrictEqual(a, b);
}
