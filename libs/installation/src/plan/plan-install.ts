import { messageOf } from '@wins/base';
import { stateIn, type NodeFacts } from '../facts/node-facts.js';
import { itemId, type Item, folderOf } from '../item/item.js';
import { contentOf, stepOf, type Step } from '../item/step.js';
import {
  RKE2_SERVICE,
  type DesiredInstallation,
  itemsOfInstallation,
} from '../desired/desired-installation.js';
import { refuse, type InstallPlan, type AdoptPlan } from './plan.js';
import { refuseInstall } from './refuse-install.js';
import { WantedItems, wantParts, wantSurroundings, type EditConfig } from './wanted-items.js';
import { mergeSteps } from '../manifest/manifest.js';
import { dataFolders } from '../desired/install-paths.js';

/** Plans the steps from the facts to the desired installation. Pure; fulfilled parts need no step. */
export function planInstall(
  facts: NodeFacts,
  desired: DesiredInstallation,
  editConfig: EditConfig,
): InstallPlan {
  return plan(facts, desired, editConfig, wantSurroundings);
}

/**
 * Plans an update; parts that are undefined in `desired` stay unchanged. The daemon restarts only if its program, environment or a
 * file that it read changes.
 */
export function planSuc(
  facts: NodeFacts,
  desired: DesiredInstallation,
  editConfig: EditConfig,
): InstallPlan {
  if (stateIn(facts, { kind: 'service', name: desired.service }) === undefined)
    return refuse(`there is no service ${desired.service} on this node`);
  return plan(facts, desired, editConfig, () => undefined);
}

function plan(
  facts: NodeFacts,
  desired: DesiredInstallation,
  editConfig: EditConfig,
  wantMore: typeof wantSurroundings,
): InstallPlan {
  const refusal = refuseInstall(facts, desired);
  if (refusal !== undefined) return refusal;
  const wanted = new WantedItems(facts);
  try {
    wantParts(wanted, facts, desired, editConfig);
  } catch (error) {
    return refuse(`the config cannot be changed: ${messageOf(error)}`);
  }
  wantMore(wanted, facts, desired);
  const steps = inOrder(wanted, facts, desired.service);
  if (steps.length === 0) return { kind: 'nothing', reason: 'the node is in the requested state' };
  const isProved = steps.some(({ item, to }) => item.kind === 'running' && to !== undefined);
  return { kind: 'steps', steps, contents: wanted.contents, isProved };
}

/**
 * Puts the steps that need a stopped daemon between its stop and its start. If rke2 runs and depends on the daemon, the
 * dependency would prevent the stop, so the plan removes it until the daemon runs again. Even a plan that only starts the
 * daemon removes the dependency, because undoing the start needs a stop.
 */
function inOrder(wanted: WantedItems, facts: NodeFacts, service: string): readonly Step[] {
  const { quiet, files, last } = wanted;
  // The program comes last, because its upgrade starts the service, which needs all the other files.
  const ordered = [...files].sort((a, b) => rank(a) - rank(b));
  const running = { kind: 'running', service } as const;
  const isRunning = stateIn(facts, running) !== undefined;
  if (isRunning && !wanted.disturbs && !hasReadOther(facts, [...quiet, ...files]))
    return [...quiet, ...ordered, ...last];
  const stop = isRunning ? [stepOf(running, 'present', undefined)] : [];
  const start = stepOf(running, undefined, 'present');
  const link = { kind: 'dependency', service: RKE2_SERVICE, on: service } as const;
  const isHeld =
    stateIn(facts, { kind: 'running', service: RKE2_SERVICE }) !== undefined &&
    stateIn(facts, link) !== undefined;
  if (!isHeld) return [...quiet, ...stop, ...ordered, start, ...last];
  // Restore the dependency, unless `last` removes it.
  const isUnlinked = last.some(({ item }) => itemId(item) === itemId(link));
  return [
    ...quiet,
    stepOf(link, 'present', undefined),
    ...stop,
    ...ordered,
    start,
    ...last.filter(({ item }) => itemId(item) !== itemId(link)),
    ...(isUnlinked ? [] : [stepOf(link, undefined, 'present')]),
  ];
}

const rank = ({ item }: Step): number => ['service', 'variable', 'program'].indexOf(item.kind);

/** Whether, after `steps`, a file on disk differs from what the daemon has read. */
function hasReadOther(facts: NodeFacts, steps: readonly Step[]): boolean {
  for (const [path, sha256] of facts.loaded ?? []) {
    const file = { kind: 'file', path } as const;
    // If the service runs its program from a path other than `paths.program`, that path may have only a `program` item, and
    // no `file` item.
    const program = { kind: 'program', path } as const;
    const ids = [itemId(file), itemId(program)];
    const step = steps.find(({ item }) => ids.includes(itemId(item)));
    const found = stateIn(facts, file) ?? stateIn(facts, program);
    const state = step === undefined ? found : step.to;
    // A file that is missing or not part of the installation does not require a restart.
    if (state !== undefined && contentOf(file, state) !== sha256) return true;
  }
  return false;
}

/**
 * Builds a manifest for an installation made by another program. Omits parent folders, the program folder, certificates
 * and the WinHTTP proxy, which may have existed before.
 */
export function planAdopt(facts: NodeFacts, desired: DesiredInstallation): AdoptPlan {
  const { paths, service } = desired;
  if (facts.manifest !== undefined)
    return { kind: 'nothing', reason: 'there is already a manifest' };
  if (stateIn(facts, { kind: 'service', name: service }) === undefined)
    return refuse(`there is no service ${service} on this node to adopt`);
  const folders = [paths.configFolder, paths.dataFolder, ...dataFolders(paths)];
  const isShared = new Set([`service ${RKE2_SERVICE}`, 'winHttpProxy']);
  const beside = paths.filesOfGo.map((path): Item => ({ kind: 'file', path }));
  const steps = [...itemsOfInstallation(desired, undefined), ...beside]
    .filter((item) => item.kind !== 'folder' || folders.includes(item.path))
    .filter((item) => !isShared.has(itemId(item)))
    .flatMap((item) => {
      const found = facts.states.get(itemId(item));
      return found === undefined ? [] : [stepOf(item, undefined, found)];
    });
  // A program at another path may belong to another product, so it is adopted only if it is named wins.exe.
  const program = facts.program?.path;
  const state = program && stateIn(facts, { kind: 'program', path: program });
  const isElsewhere = program !== undefined && program !== paths.program;
  const isOurName =
    isElsewhere && program.slice(folderOf(program, facts.platform).length + 1) === 'wins.exe';
  const extra =
    isOurName && state
      ? [stepOf({ kind: 'file', path: program }, undefined, { ...state, access: 'executable' })]
      : [];
  return {
    kind: 'adopt',
    manifest: { ...mergeSteps(undefined, [...steps, ...extra]), isAdopted: true },
  };
}
