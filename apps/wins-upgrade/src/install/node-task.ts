import { editConfig, forgetHistory } from '@wins/config';
import {
  adopt,
  applyPlan,
  describePlan,
  describeStep,
  finishOrUndo,
  InstallError,
  itemId,
  pendingRecovery,
  planAdopt,
  planInstall,
  planSuc,
  planUninstall,
  readFacts,
  uninstall,
  type FetchedParts,
  type InstallContext,
  type NodeHost,
  type DesiredInstallation,
  type KeptItem,
  type NothingToDo,
  type Refusal,
  type Step,
  type UninstallSettings,
} from '@wins/installation';
import { withLock } from '@wins/service-upgrade';
import { messageOf } from '@wins/base';
import { loadedFiles } from './loaded-files.js';
import { nodeHost } from './node-host.js';
import { NodeLock } from './node-lock.js';
import type { NodeParts } from '../node-of-system.js';
import type { Proof } from './node-parts.js';

type Changed = 'adopted' | 'installed' | 'left' | 'rolledBack' | 'uninstalled';
type Outcome = Changed | 'failed' | 'nothing' | 'planned' | 'refused';

export interface NodeOutcome {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly steps?: readonly string[];
  readonly kept?: readonly string[];
  readonly recovered?: 'finished' | 'undone';
  /** Recovery that the next command will do. A dry run plans for the node as it is before that recovery. */
  readonly pending?: { readonly outcome: 'finished' | 'undone'; readonly steps: readonly string[] };
}

export interface NodeTask {
  readonly isDryRun: boolean;
  readonly proofs: readonly Proof[];
  readonly signal: AbortSignal;
  readonly onStep?: ((step: Step) => void) | undefined;
}

/** Judges the node before the server registers it. @throws InstallError `refused`. */
export type Judge = (parts: FetchedParts) => Promise<void>;

/**
 * Brings the node into the desired state; `install` also sets up the folders and the service. `ask` runs under the lock, so that only one
 * command at a time registers the node.
 */
export function changeNode(
  node: NodeParts,
  desiredWith: (fetched: FetchedParts) => DesiredInstallation,
  how: 'install' | 'keep',
  task: NodeTask,
  ask?: (judge: Judge) => Promise<FetchedParts>,
): Promise<NodeOutcome> {
  return withNode(node, task, async (context) => {
    const loaded = await loadedFiles(node);
    const decide = async (fetched: FetchedParts) => {
      const desired = desiredWith(fetched);
      const found = await readFacts(context, desired, loaded);
      // Adopts another program's installation, so that a later removal covers its service.
      const taken = planAdopt(found, desired);
      const facts = taken.kind === 'adopt' ? { ...found, manifest: taken.manifest } : found;
      const planned = how === 'install' ? planInstall : planSuc;
      const plan = planned(facts, desired, (config, changes) => editConfig(config, changes));
      return { taken, plan };
    };
    const fetched = await ask?.(async (known) => {
      const { plan } = await decide(known);
      if (plan.kind === 'refusal') throw new InstallError('refused', plan.reason);
    });
    const { plan, taken } = await decide(fetched ?? {});
    if (plan.kind !== 'steps') return withoutSteps(plan);
    const steps = describePlan(plan);
    if (task.isDryRun) return { outcome: 'planned', reason: `${steps.length} steps`, steps };
    if (taken.kind === 'adopt') await adopt(context, taken);
    const applied = await applyPlan(context, plan);
    if (applied.outcome === 'installed')
      return { outcome: 'installed', reason: 'the node is in the requested state', steps };
    return {
      outcome: 'rolledBack',
      reason: messageOf(applied.cause),
      ...(applied.left.length > 0 && { kept: applied.left.map(describeStep) }),
    };
  });
}

export interface FeaturesOfDaemon {
  /**
   * Removes what the features of daemons left on this host.
   *
   * @param hindrance - Why nothing can be removed, if so.
   * @returns What stays, each with the reason. Never rejects.
   */
  readonly removeFeatures: (
    from: {
      readonly configFile: string;
      readonly isAdopted: boolean;
      readonly keepsData: boolean;
    },
    hindrance: string | undefined,
  ) => Promise<readonly string[]>;
}

export function removeNode(
  node: NodeParts,
  installation: Pick<DesiredInstallation, 'paths' | 'service'>,
  how: Omit<UninstallSettings, 'service' | 'programs'> &
    FeaturesOfDaemon & { readonly adopts: boolean },
  task: NodeTask,
): Promise<NodeOutcome> {
  return withNode(node, task, async (context) => {
    if (how.adopts) {
      // A plan that adopts nothing is no error: `planUninstall` decides whether there is anything to remove.
      const taken = planAdopt(await readFacts(context, installation), installation);
      if (taken.kind === 'adopt' && task.isDryRun)
        return { outcome: 'planned', reason: 'the manifest', steps: describePlan(taken) };
      if (taken.kind === 'adopt') await adopt(context, taken);
    }
    const facts = await readFacts(context, installation);
    const programs = [installation.paths.program, ...(facts.program ? [facts.program.path] : [])];
    const plan = planUninstall(facts, { ...how, service: installation.service, programs });
    if (plan.kind !== 'uninstall') return withoutSteps(plan);
    const steps = plan.steps.map(describeStep);
    const describeKept = ({ entry, reason }: KeptItem) => `${itemId(entry.item)}: ${reason}`;
    if (task.isDryRun) {
      const kept = plan.kept.map(describeKept);
      return { outcome: 'planned', reason: `${steps.length} steps`, steps, kept };
    }
    const isAdopted = facts.manifest?.isAdopted === true;
    const { config: configFile } = installation.paths;
    const keepsData = how.keepsData === true;
    const hindrance = await stopDaemon(context, plan.steps);
    // Before the uninstallation, because some systems cannot remove a running program, and because the config tells where some of it is.
    const left = await how.removeFeatures({ configFile, isAdopted, keepsData }, hindrance);
    // Stored configs may contain secrets.
    if (!keepsData) await forgetHistory(configFile);
    const { kept, failed } = await uninstall(context, plan);
    const stays = [...left, ...[...kept, ...failed].map(describeKept)];
    const more = { steps, ...(stays.length > 0 && { kept: stays }) };
    if (failed.length > 0) {
      const reason = 'some parts could not be removed. Run the command again';
      return { outcome: 'failed', reason, ...more };
    }
    const rest = stays.length > 0 ? ', except for the parts that stay' : '';
    return { outcome: 'uninstalled', reason: `wins is removed from this node${rest}`, ...more };
  });
}

/** Stops the daemon, which would re-create its files. Resolves with the reason if the stop fails. */
async function stopDaemon({ host }: InstallContext<NodeHost>, steps: readonly Step[]) {
  try {
    for (const { item, to } of steps)
      if (item.kind === 'running' && to === undefined)
        await host.stores.running.write(item, undefined, undefined);
    return undefined;
  } catch (error) {
    return `left in place because the daemon had not stopped: ${messageOf(error)}`;
  }
}

export function adoptNode(node: NodeParts, desired: DesiredInstallation, task: NodeTask) {
  return withNode(node, task, async (context) => {
    const plan = planAdopt(await readFacts(context, desired), desired);
    if (plan.kind !== 'adopt') return withoutSteps(plan);
    const steps = describePlan(plan);
    if (task.isDryRun) return { outcome: 'planned', reason: `${steps.length} items`, steps };
    await adopt(context, plan);
    return { outcome: 'adopted', reason: 'the installation has a manifest now', steps };
  });
}

function withoutSteps({ kind, reason }: NothingToDo | Refusal): NodeOutcome {
  return { outcome: kind === 'refusal' ? 'refused' : 'nothing', reason };
}

/** Takes the lock of `wins up` and completes an interrupted command first. A dry run does neither. */
async function withNode(
  node: NodeParts,
  { proofs, signal, isDryRun, onStep }: NodeTask,
  task: (context: InstallContext<NodeHost>) => Promise<NodeOutcome>,
): Promise<NodeOutcome> {
  const lock = new NodeLock(node);
  const host = nodeHost(node, lock, proofs);
  const context = { host, paths: node.paths, signal, onStep };
  if (isDryRun) {
    const pending = await pendingRecovery(context);
    const outcome = await task(context);
    if (pending === undefined) return outcome;
    return { ...outcome, pending: { ...pending, steps: pending.steps.map(describeStep) } };
  }
  const change = async (): Promise<NodeOutcome> => {
    const recovered = await finishOrUndo(context);
    const said = await task(context);
    if (recovered === undefined) return said;
    const { outcome } = recovered;
    const problem = outcome === 'undone' ? recovered.problem : undefined;
    // The recovery restarted the daemon and found `problem`. A command with one of these outcomes has not checked the daemon again.
    // The command therefore fails, with `problem` as the reason.
    const isBad = problem !== undefined && ['adopted', 'nothing'].includes(said.outcome);
    const failure = isBad && { outcome: 'failed' as const, reason: problem };
    return { ...said, ...failure, recovered: outcome };
  };
  return await withLock(lock, change, { tried: 'change' });
}
