import { itemName, type Item, type StateOf } from './item.js';

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

/** A step; absent states are left out of it. */
export function stepOf(item: Item, from: StateOf | undefined, to: StateOf | undefined): Step {
  return { item, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** The digest of the content that a state stands for; undefined for one without. */
export function contentOf(item: Item, state: StateOf | undefined): string | undefined {
  if (state === undefined) return undefined;
  if (item.kind === 'certificate') return item.sha256;
  return typeof state === 'object' && 'sha256' in state ? state.sha256 : undefined;
}

/** What a step does, in one line for people. Secrets have no part in it. */
export function describeStep({ item, from, to }: Step): string {
  if (item.kind === 'running') return `${to === undefined ? 'stop' : 'start'} ${item.service}`;
  const verb = to === undefined ? 'remove' : from === undefined ? 'make' : 'change';
  return `${verb} ${itemName(item)}${to === undefined || isGuessable(item) ? '' : detailOf(to)}`;
}

/** The password of a proxy may be short: whoever reads its digest in a log could try all that are. */
function isGuessable({ kind }: Item): boolean {
  return kind === 'variable';
}

function detailOf(state: StateOf): string {
  if (state === 'present') return '';
  const shown = Object.entries(state).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `: ${shown.join(', ')}`;
}
