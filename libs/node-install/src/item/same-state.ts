import { isDeepStrictEqual } from 'node:util';
import type { StateOf } from './item.js';

/**
 * Whether two states of one thing are the same; absent is undefined. Quotes of a command line have no part in it: an upgrade of the
 * program writes the same words with its own.
 */
export function isSameState(a: StateOf | undefined, b: StateOf | undefined): boolean {
  return isDeepStrictEqual(plain(a), plain(b));
}

function plain(state: StateOf | undefined): StateOf | undefined {
  if (typeof state !== 'object' || !('command' in state)) return state;
  return { ...state, command: state.command.replaceAll('"', '') };
}
