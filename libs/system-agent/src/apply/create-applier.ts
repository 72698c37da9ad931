import { quoteText, Serial } from '@wins/base';
import path from 'node:path';
import { abortedBy } from '../agent-error.js';
import { Prober } from './probes/http-probe.js';
import { runProbes } from './probes/run-probes.js';
import { AppliedPlans } from './applied-plans.js';
import { OutputFiles } from './output-files.js';
import type { ApplierOptions, PassContext } from './execute.js';
import type { Applier } from './pass.js';
import { reconcileFiles, type FileAction } from './reconcile-files.js';
import { runInstructions, runPeriodic, type InstructionsResult } from './run-instructions.js';
import { Warnings } from './warnings.js';
import { WorkFolder } from './work-folder.js';

/** Performs one pass at a time. The probes of a pass may overlap the next pass. */
export function createApplier(options: ApplierOptions): Applier {
  const queue = new Serial();
  const warnings = new Warnings(options.onEvent);
  const history = new AppliedPlans(options.appliedPlanDirectory, options.files);
  const outputs = new OutputFiles(path.join(options.stateDirectory, 'outputs'), options.files);
  const work = new WorkFolder(options.workDirectory, options.files);
  const prober = new Prober();

  return {
    apply: async (pass, { signal }) => {
      const { clock, onEvent } = options;
      try {
        const done = await queue.run(
          async () => {
            const now = clock.now();
            const context = { options, pass, now, work, outputs, warnings, signal };
            const recorded = record(context, history);
            try {
              return await applyPass(context, recorded);
            } finally {
              await recorded;
              // Windows cannot remove a file that is still open; the next pass removes it.
              if (!options.preserveWorkDirectory)
                await warnings.attempt(
                  ...([pass.source, 'work folder', 'the work folder is not removed yet'] as const),
                  () => work.clear(),
                );
            }
          },
          { signal },
        );
        const probes = await runProbes({ pass, clock, onEvent, warnings, prober, signal });
        return { ...done, probes };
      } catch (error) {
        throw signal.aborted ? abortedBy(signal, 'apply a plan') : error;
      }
    },
  };
}

/** Never rejects: a plan is applied even if the history cannot be written. */
async function record({ pass, now, warnings }: PassContext, history: AppliedPlans): Promise<void> {
  const { plan, checksum, oneTime } = pass;
  if (oneTime === undefined) return;
  await warnings.attempt(pass.source, 'history', 'the plan is not in the history', async () => {
    if (oneTime.isRepeated !== true || !(await history.has(checksum)))
      await history.add(plan, checksum, now);
  });
}

/** @param recorded - Resolves once the history is written. Awaited before any change. */
async function applyPass(context: PassContext, recorded: Promise<void>) {
  const { options, pass, signal } = context;
  const { source, checksum, oneTime } = pass;
  const startedMs = options.clock.monotonicMs();
  let done: InstructionsResult = { succeeded: true, outputs: pass.outputs };
  if (oneTime !== undefined) {
    const onFiles = async (actions: readonly FileAction[]): Promise<void> => {
      const records = actions.map((file) =>
        options.onAction({ kind: 'file', source, checksum, ...file }),
      );
      await Promise.all([recorded, ...records]);
    };
    tellOwners(context);
    await reconcileFiles(pass.plan.files, { files: options.files, onFiles, signal });
  }
  await recorded;
  if (oneTime !== undefined) done = await runInstructions(context, oneTime.attempt);
  const periodic = await runPeriodic(context, oneTime !== undefined);
  if (oneTime !== undefined) {
    const durationMs = Math.round(options.clock.monotonicMs() - startedMs);
    const { succeeded, failure } = done;
    const ended = { source, checksum, succeeded, ...(failure && { failure }), durationMs };
    options.onEvent({ kind: 'passEnded', ...ended });
  }
  return { ...done, periodic };
}

/** The default owner, root, needs no warning. */
function tellOwners({ options, pass, warnings }: PassContext): void {
  const { source, plan } = pass;
  const owned = plan.files.filter(({ uid, gid }) => uid > 0 || gid > 0);
  const [first] = options.files.hasOwners === false ? owned : [];
  const message = `the owners of ${owned.length} files of the plan, such as ${quoteText(first?.path ?? '')}, are ignored: this system has no uid and gid`;
  warnings.tell(source, 'owners', first && message);
}
