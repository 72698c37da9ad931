import type { TreeLimits } from '@wins/base';
import { ProcessError } from '../process-error.js';

type LimitName = keyof TreeLimits;

/** An entry's limits for its runs. */
export interface LimitedEntry {
  /** Limits of a run whose client asks for none. A limit missing here is taken from `maxLimits`. */
  readonly limits?: TreeLimits | undefined;
  /** Maximum of each limit that a client may request. A maximum missing here is taken from `limits`. Without either, the client may choose the limit. */
  readonly maxLimits?: TreeLimits | undefined;
}

const LIMITS: Readonly<Record<LimitName, readonly [least: number, most: number, unit: string]>> = {
  memoryBytes: [1024 * 1024, 2 ** 50, 'bytes of memory'],
  cpus: [0.01, 4096, 'processors'],
  pids: [1, 4_194_304, 'processes'],
};

const NAMES = Object.keys(LIMITS) as readonly LimitName[];

/**
 * Takes each limit from the client, else from the entry's `limits`, else from `maxLimits`.
 *
 * @throws ProcessError `invalidArgument` for an impossible limit, `limitsNotAllowed` for more than the entry allows.
 */
export function grantedLimits(
  asked: TreeLimits,
  { limits = {}, maxLimits = {} }: LimitedEntry,
): TreeLimits | undefined {
  const granted = NAMES.flatMap((name): [LimitName, number][] => {
    const wanted = asked[name];
    const most = maxLimits[name] ?? limits[name];
    if (wanted !== undefined) {
      assertBounds(name, wanted);
      if (most !== undefined && wanted > most) throw tooMuch(name, wanted, most);
    }
    const value = wanted ?? limits[name] ?? most;
    return value === undefined ? [] : [[name, value]];
  });
  return granted.length === 0 ? undefined : Object.fromEntries(granted);
}

export function faultOfLimits({ limits = {}, maxLimits = {} }: LimitedEntry) {
  const name = NAMES.find((each) => (limits[each] ?? 0) > (maxLimits[each] ?? Infinity));
  if (name === undefined) return undefined;
  return `its "limits" has more ${LIMITS[name][2]} than its "maxLimits"; wanted ${maxLimits[name]} at most`;
}

function assertBounds(name: LimitName, wanted: number): void {
  const [least, most, unit] = LIMITS[name];
  const isWhole = name === 'cpus' || Number.isInteger(wanted);
  if (isWhole && wanted >= least && wanted <= most) return;
  const message = `cannot limit a run to ${wanted} ${unit}; wanted a number from ${least} to ${most}`;
  throw new ProcessError('invalidArgument', message);
}

function tooMuch(name: LimitName, wanted: number, most: number): ProcessError {
  const message = `cannot run a program with ${wanted} ${LIMITS[name][2]}: its entry allows ${most}`;
  return new ProcessError('limitsNotAllowed', message, { rule: 'A118 limits not allowed' });
}
