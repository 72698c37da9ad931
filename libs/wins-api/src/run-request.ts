import { quoteText, type TreeLimits } from '@wins/base';
import { hashFile, TrustedFileError } from '@wins/trusted-files';
import path from 'node:path';
import { WinsClientError } from './client-error.js';
import { RunExposeProtocol, type ProcessExpose } from './gen/process.js';
import type { RunOptions, RunPort } from './host-run.js';

/** Greatest number of pids and of thousandths of a processor on the wire. */
export const LARGEST_UINT32 = 2 ** 32 - 1;

/**
 * Returns the request for a run, with digests of the local file, for the daemon to compare with the host's file.
 *
 * @throws WinsClientError `notFound` when this machine has no such program; `invalidRequest`.
 */
export async function startRequestOf(options: Omit<RunOptions, 'onWarning' | 'signal'>) {
  const { args = [], env = {}, directory, exposes = [], limits, replace = false } = options;
  const program = path.resolve(options.path);
  return {
    path: program,
    args,
    envs: Object.entries(env).map(variable),
    exposes: exposes.map(exposeMessage),
    dir: directory === undefined ? path.dirname(program) : path.resolve(directory),
    replace,
    ...(limits && { limits: limitsMessage(limits) }),
    ...(await digestsOf(program)),
  };
}

/** @throws WinsClientError `invalidRequest` */
export function requireWhole(name: string, value: number, most: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value <= most))
    throw invalid(name, value, `a whole number from 0 to ${most}`);
}

function invalid(name: string, found: number, wanted: string): WinsClientError {
  const details = `invalid options: found ${found} as ${name}; wanted ${wanted}`;
  return new WinsClientError('invalidRequest', { details });
}

function exposeMessage({ port, protocol }: RunPort): ProcessExpose {
  requireWhole('port of exposes', port, 65_535);
  return { port, protocol: protocol === 'UDP' ? RunExposeProtocol.UDP : RunExposeProtocol.TCP };
}

function limitsMessage({ memoryBytes = 0, cpus = 0, pids = 0 }: TreeLimits) {
  requireWhole('limits.memoryBytes', memoryBytes, Number.MAX_SAFE_INTEGER);
  requireWhole('limits.pids', pids, LARGEST_UINT32);
  const cpuMillis = Math.round(cpus * 1000);
  if (!(cpuMillis >= 0 && cpuMillis <= LARGEST_UINT32))
    throw invalid('limits.cpus', cpus, `a number from 0 to ${LARGEST_UINT32 / 1000}`);
  return { memoryBytes, cpuMillis, pids };
}

function variable([name, value]: readonly [string, string]): string {
  if (name !== '' && !name.includes('=')) return `${name}=${value}`;
  throw new WinsClientError('invalidRequest', {
    details: `cannot set the variable ${quoteText(name)}: its name is empty or has a "="`,
  });
}

async function digestsOf(program: string) {
  try {
    const { sha1, sha256 } = await hashFile(program, ['sha1', 'sha256'], { followLinks: true });
    return { checksum: sha1, checksumSha256: sha256 };
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    const isMissing = error.code === 'notFound' || error.code === 'notRegularFile';
    throw new WinsClientError(isMissing ? 'notFound' : 'invalidRequest', {
      details: `${error.message}; the program must be at the same path here and on the host`,
      cause: error,
    });
  }
}
