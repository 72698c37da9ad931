import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { itemName, KINDS, type Item, type StateOf } from './item.js';

/**
 * One change of the node, as data: a thing, how it was found and how it is to be; absent is undefined.
 *
 * It is done when the thing is `to`; to do it is to write `to`, and to undo it is to write `from`. It tells digests where a value may
 * be secret, so that it may stand in a journal.
 */
export interface Step {
  readonly item: Item;
  readonly from?: StateOf;
  readonly to?: StateOf;
}

const STEP_SCHEMA = z.union(
  Object.values(KINDS).map(([item, state]) =>
    z.strictObject({ item, from: state.optional(), to: state.optional() }),
  ),
) as unknown as z.ZodType<Step>;

/** The steps of a file of ours, at most 1000, each state of the kind of its item. */
export const STEPS_SCHEMA = z.array(STEP_SCHEMA).max(1000);

/** A step; absent states are left out of it. */
export function stepOf(item: Item, from: StateOf | undefined, to: StateOf | undefined): Step {
  return { item, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

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

/** The digest of the content that a state stands for; undefined for one without. */
export function contentOf(item: Item, state: StateOf | undefined): string | undefined {
  if (state === undefined) return undefined;
  if (item.kind === 'certificate') return item.sha256;
  return typeof state === 'object' && 'sha256' in state ? state.sha256 : undefined;
}

/** Describes a step in one line for people, without secrets. */
export function describeStep({ item, from, to }: Step): string {
  if (item.kind === 'running') return `${to === undefined ? 'stop' : 'start'} ${item.service}`;
  const verb = to === undefined ? 'remove' : from === undefined ? 'make' : 'change';
  // The password of a proxy may be short: by its digest in a log all that are could be tried.
  const isShown = typeof to === 'object' && item.kind !== 'variable';
  const shown = Object.entries(isShown ? to : {}).map(
    ([name, value]) => `${name} ${JSON.stringify(value)}`,
  );
  return `${verb} ${itemName(item)}${isShown ? `: ${shown.join(', ')}` : ''}`;
}
