import { createWinsClient } from './create-wins-client.js';
import type { WinsClientOptions } from './wins-client.js';
import type { ProcessResult, RunProcessOptions } from './run-process-options.js';

/**
 * Runs a program of the host and follows it to its end, by a client of its own that is closed afterwards. Who runs more than
 * one has `createWinsClient(…).runProcess(…)`.
 *
 * @throws WinsClientError as `runProcess` of a client does; what a callback throws, unchanged, after the run was stopped.
 */
export async function runProcess(
  options: RunProcessOptions & WinsClientOptions,
): Promise<ProcessResult> {
  const client = createWinsClient(options);
  try {
    return await client.runProcess(options);
  } finally {
    await client.close();
  }
}
