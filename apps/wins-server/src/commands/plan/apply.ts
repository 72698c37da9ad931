import {
  camelCaseKeys,
  planServiceDefinition,
  type PlanApplyResponse,
} from '@wins/wins-api/contract';
import { fileSystemError } from '@wins/trusted-files';
import { EXIT, messageOf, quoteText, UsageError, type Answer } from '@wins/base';
import { open } from 'node:fs/promises';
import { callRunningDaemon, type RunningDaemonOptions } from '../running-daemon.js';
import { safeLines } from '../safe-lines.js';
import { contentText, failureLines, probeLines } from './plan-text.js';
import { ABOUT_PLANS } from './show.js';

/** Maximum size of a plan in bytes: that of a request (1 MiB), less 1 KiB for the rest of the request. */
const MAX_PLAN_BYTES = 1024 * 1024 - 1024;

export interface ApplyOptions extends RunningDaemonOptions {
  readonly file: string;
  readonly 'dry-run': boolean;
}

export async function applyPlan(options: ApplyOptions): Promise<Answer> {
  const request = { Text: await readPlan(options.file), DryRun: options['dry-run'] };
  const answer = await callRunningDaemon(options, planServiceDefinition.apply, request, {
    ...ABOUT_PLANS,
    timeoutMs: Infinity,
  });
  return {
    exitCode: answer.Applied && !answer.Succeeded ? EXIT.server.planFailed : EXIT.server.ok,
    value: camelCaseKeys(answer),
    text: textOf(answer),
  };
}

async function readPlan(file: string): Promise<Buffer> {
  let handle;
  try {
    handle = await open(file);
  } catch (cause) {
    const found = messageOf(fileSystemError(cause, 'read the plan', file));
    throw new UsageError(`--file: ${found}`, { cause });
  }
  try {
    const { size } = await handle.stat();
    if (size <= MAX_PLAN_BYTES) return await handle.readFile();
    const found = `found ${size} bytes; wanted ${MAX_PLAN_BYTES} at most`;
    throw new UsageError(`--file: cannot use ${quoteText(file)}: ${found}`);
  } finally {
    await handle.close();
  }
}

function textOf({ Plan, Applied, Succeeded, Outputs, Probes, Failure }: PlanApplyResponse): string {
  const plan = Plan === undefined ? '' : contentText(Plan);
  if (!Applied) return `${plan}nothing was done\n`;
  return (
    plan +
    safeLines([
      ...Outputs.map(({ Name, SizeBytes }) => `  output ${Name}: ${SizeBytes} bytes`),
      ...probeLines(Probes),
      ...failureLines(Failure),
      Succeeded ? 'the plan was applied' : 'an instruction failed',
    ])
  );
}
