import { errnoOf } from '@wins/wins-program';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';

import { AgentError } from '../agent-error.js';
import type { Clock, PlanFiles } from '../ports.js';
import type { Applier } from './pass.js';
import { parseUnixDate, unixDate } from './unix-date.js';

const ACTIVE = 'applyinator-active';
const PENDING = 'restart-pending';
/** Whoever asked for a restart and did not do it by then is forgotten. */
const PENDING_MS = 5 * 60 * 1000;

export interface InterlockOptions {
  /** Absolute. */
  readonly directory: string;
  readonly clock: Clock;
  readonly files: PlanFiles;
}

/**
 * Keeps plans and the restart of the node apart: `applyinator-active` is there while a pass runs, and no pass begins while
 * `restart-pending` is there and younger than 5 minutes.
 */
export function interlocked(applier: Applier, options: InterlockOptions): Applier {
  const { directory, clock, files } = options;
  const active = path.join(directory, ACTIVE);
  let passes = 0;
  return {
    apply: async (pass, signal) => {
      await files.ensurePrivateFolder(directory);
      await refuseWhenPending(options);
      passes += 1;
      try {
        await files.writePrivateFile(active, Buffer.from(unixDate(clock.now())));
        return await applier.apply(pass, signal);
      } finally {
        passes -= 1;
        if (passes === 0) await rm(active, { force: true });
      }
    },
  };
}

async function refuseWhenPending({ directory, clock, files }: InterlockOptions): Promise<void> {
  const pending = path.join(directory, PENDING);
  const text = await beginningOf(pending);
  if (text === undefined) return;
  const since = parseUnixDate(text.trim());
  if (!since) await files.writePrivateFile(pending, Buffer.from(unixDate(clock.now())));
  else if (clock.now().getTime() - since.getTime() > PENDING_MS) {
    return rm(pending, { force: true });
  }
  throw new AgentError(
    'refused',
    `cannot apply a plan: found ${PENDING}; wanted no restart to come`,
  );
}

/** A time, and no more of what others may have written. Undefined: there is no such file. */
async function beginningOf(file: string): Promise<string | undefined> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
