import { messageOf } from '@wins/base';
import { stateIn, type NodeFacts } from '../facts/node-facts.js';
import { itemId } from '../item/item.js';
import { contentOf, stepOf, type Step } from '../item/step.js';
import { RKE2_SERVICE, type InstallWish } from '../wish/install-wish.js';
import { refuse, type InstallPlan } from './plan.js';
import { refuseInstall } from './refuse-install.js';
import { WantedItems, wantParts, wantSurroundings, type EditConfig } from './wanted-items.js';

/** Decides what makes this node what it is to be, or why that must not be. Pure, but for what `editConfig` does. */
export function planInstall(
  facts: NodeFacts,
  wish: InstallWish,
  editConfig: EditConfig,
): InstallPlan {
  return plan(facts, wish, editConfig, wantSurroundings);
}

/**
 * Decides what keeps an installation up to date. A node without one is refused. What is undefined in the wish stays, and the daemon is
 * restarted only when something that it has read becomes another.
 */
export function planSuc(facts: NodeFacts, wish: InstallWish, editConfig: EditConfig): InstallPlan {
  if (stateIn(facts, { kind: 'service', name: wish.service }) === undefined) {
    return refuse(`there is no service ${wish.service} on this node`);
  }
  return plan(facts, wish, editConfig, () => undefined);
}

function plan(
  facts: NodeFacts,
  wish: InstallWish,
  editConfig: EditConfig,
  wantMore: typeof wantSurroundings,
): InstallPlan {
  const refusal = refuseInstall(facts, wish);
  if (refusal !== undefined) return refusal;
  const wanted = new WantedItems(facts);
  try {
    wantParts(wanted, facts, wish, editConfig);
  } catch (error) {
    return refuse(`the config cannot be changed: ${messageOf(error)}`);
  }
  wantMore(wanted, facts, wish);
  const steps = inOrder(wanted, facts, wish.service);
  if (steps.length === 0) return { kind: 'nothing', reason: 'the node is in the requested state' };
  const isProved = steps.some(({ item, to }) => item.kind === 'running' && to !== undefined);
  return { kind: 'steps', steps, contents: wanted.contents, isProved };
}

/**
 * Orders steps that need a stopped daemon between its stop and its start; a running service that depends on it is recorded as stopped
 * meanwhile, because the system does not stop a service that others depend on. A start needs the same, since it may be undone.
 */
function inOrder(wanted: WantedItems, facts: NodeFacts, service: string): readonly Step[] {
  const { quiet, files, last } = wanted;
  // The program is the last file: its upgrade starts the service, which must be there with all it reads.
  const ordered = [...files].sort((a, b) => rank(a) - rank(b));
  const running = { kind: 'running', service } as const;
  const isRunning = stateIn(facts, running) !== undefined;
  if (isRunning && !wanted.disturbs && !hasReadOther(facts, [...quiet, ...files])) {
    return [...quiet, ...ordered, ...last];
  }
  const stop = isRunning ? [stepOf(running, 'present', undefined)] : [];
  const start = stepOf(running, undefined, 'present');
  const link = { kind: 'dependency', service: RKE2_SERVICE, on: service } as const;
  const isHeld =
    stateIn(facts, { kind: 'running', service: RKE2_SERVICE }) !== undefined &&
    stateIn(facts, link) !== undefined;
  if (!isHeld) return [...quiet, ...stop, ...ordered, start, ...last];
  // Linked as it was, or for good not: the wish of a link that is there can only be its end.
  const isUnlinked = last.some(({ item }) => itemId(item) === itemId(link));
  return [
    ...quiet,
    stepOf(link, 'present', undefined),
    ...[...stop, ...ordered, start],
    ...last.filter(({ item }) => itemId(item) !== itemId(link)),
    ...(isUnlinked ? [] : [stepOf(link, undefined, 'present')]),
  ];
}

function rank({ item }: Step): number {
  return ['service', 'variable', 'program'].indexOf(item.kind);
}

/** Whether the daemon has read something that is not what lies there, or will. */
function hasReadOther(facts: NodeFacts, steps: readonly Step[]): boolean {
  for (const [path, sha256] of facts.loaded ?? []) {
    const file = { kind: 'file', path } as const;
    // A program that runs from elsewhere than it is installed to is known by its service alone.
    const program = { kind: 'program', path } as const;
    const ids = [itemId(file), itemId(program)];
    const step = steps.find(({ item }) => ids.includes(itemId(item)));
    const found = stateIn(facts, file) ?? stateIn(facts, program);
    const state = step === undefined ? found : step.to;
    // What is no part of an installation, or has gone, is no reason.
    if (state !== undefined && contentOf(file, state) !== sha256) return true;
  }
  return false;
}
