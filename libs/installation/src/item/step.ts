import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { itemName, KINDS, type Item, type StateOf } from './item.js';

/**
 * One change of the node. An undefined state means that the item is absent. Writing `to` does the step, writing `from` undoes it.
 * Values that may be secret are present only as digests.
 */
export interface Step {
  readonly item: Item;
  /** State before the step; undefined: the item is absent. */
  readonly from?: StateOf | undefined;
  /** State after the step; undefined: the item is absent. */
  readonly to?: StateOf | undefined;
}

const STEP_SCHEMA = z.union(
  Object.values(KINDS).map(([item, state]) =>
    z.strictObject({ item, from: z.optional(state), to: z.optional(state) }),
  ),
) as unknown as z.ZodMiniType<Step>;

export const STEPS_SCHEMA = z.array(STEP_SCHEMA).check(z.maxLength(1000));

/** Creates a step. An undefined state means that the item is absent. */
export function stepOf(item: Item, from: StateOf | undefined, to: StateOf | undefined): Step {
  return { item, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** Ignores quotes in command lines, because an upgrade may change the quotes. */
export function isSameState(a: StateOf | undefined, b: StateOf | undefined): boolean {
  return isDeepStrictEqual(plain(a), plain(b));
}

function plain(state: StateOf | undefined): StateOf | undefined {
  if (typeof state !== 'object' || !('command' in state)) return state;
  return { ...state, command: state.command.replaceAll('"', '') };
}

export function contentOf(item: Item, state: StateOf | undefined): string | undefined {
  if (state === undefined) return undefined;
  if (item.kind === 'certificate') return item.sha256;
  return typeof state === 'object' && 'sha256' in state ? state.sha256 : undefined;
}

/** The text contains no secrets. */
export function describeStep({ item, from, to }: Step): string {
  if (item.kind === 'running') return `${to === undefined ? 'stop' : 'start'} ${item.service}`;
  const verb = to === undefined ? 'remove' : from === undefined ? 'make' : 'change';
  // Digests of variables are not logged: a proxy password may be short enough to be guessed from its digest.
  const isShown = typeof to === 'object' && item.kind !== 'variable';
  const shown = Object.entries(isShown ? to : {}).map(
    ([name, value]) => `${name} ${JSON.stringify(value)}`,
  );
  return `${verb} ${itemName(item)}${isShown ? `: ${shown.join(', ')}` : ''}`;
}

/** Content of a file that a step writes. */
export type Content = Uint8Array | { readonly file: string };
