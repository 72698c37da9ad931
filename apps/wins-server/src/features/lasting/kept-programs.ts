import type { KeptProgram, WinsConfig } from '@wins/config';
import { messageOf, type ClientIdentity } from '@wins/base';
import {
  checkAllowedExecutables,
  type AllowedExecutable,
  type LastingGrant,
  type PathDialect,
} from '@wins/process-manager';
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Shares } from '../../kernel/admission/shares.js';
import { lostEnd, newEntry, ownerFacts, type Entry } from './kept-run.js';
import { newPlan, type RestartPlan } from './restart-plan.js';

/** Label prefix that no client can use, because a client's label contains no colon. */
const PREFIX = 'keep:';
const GRANT: LastingGrant = {
  ...{ maxRuns: 1, restart: true },
  spoolBytes: 16 * 1024 * 1024,
  maxAgeMs: Number.MAX_SAFE_INTEGER,
};

/** Owner of the programs in `keep`. No client has the key `host`. */
const HOST: ClientIdentity = {
  ...{ key: 'host', isAdministrator: true, isEverybody: false },
  ...{ description: {}, names: ['administrators'] },
};

export interface WantedProgram {
  readonly label: string;
  readonly plan: RestartPlan;
  /** Generated whitelist entry that allows exactly this program. */
  readonly grantedBy: AllowedExecutable;
  readonly grant: LastingGrant;
}

/** Fault that makes the daemon ignore an entry of `keep`. */
export interface KeepFault {
  readonly index: number;
  readonly found: string;
  readonly wanted: string;
}

export function wantedPrograms(
  { keep }: Pick<WinsConfig, 'keep'>,
  dialect: PathDialect,
): readonly WantedProgram[] {
  const faulty = new Set(faultsOfKeep({ keep }, dialect).map(({ index }) => index));
  return keep
    .filter((_, index) => !faulty.has(index))
    .map((program) => ({
      ...{ label: labelOf(program), plan: planOf(program), grantedBy: entryOf(program) },
      grant: GRANT,
    }));
}

export function faultsOfKeep(
  { keep }: Pick<WinsConfig, 'keep'>,
  dialect: PathDialect,
): readonly KeepFault[] {
  const fold = (text: string): string => (dialect === 'windows' ? text.toLowerCase() : text);
  const repeated = (names: readonly string[], what: string): readonly KeepFault[] =>
    names.flatMap((name, index) => {
      const first = names.indexOf(name);
      const found = `it has the ${what} of entry ${first}`;
      return first === index ? [] : [{ index, found, wanted: `another ${what}` }];
    });
  const never = checkAllowedExecutables(keep.map(entryOf), dialect).filter(
    (fault) => fault.neverMatches,
  );
  const tooLarge = keep.flatMap((program, index) => {
    try {
      planOf(program);
      return [];
    } catch (error) {
      return [{ index, found: messageOf(error), wanted: 'fewer bytes' }];
    }
  });
  return [
    ...never,
    ...tooLarge,
    ...repeated(
      keep.map((program) => fold(fileName(program))),
      'file name',
    ),
    ...repeated(keep.map(labelOf), 'name'),
  ];
}

function planOf(program: KeptProgram): RestartPlan {
  const { path, args, envs, restart } = program;
  const kept = createHash('sha256').update(JSON.stringify(program)).digest('hex');
  const variables = Object.entries(envs).map(([name, value]) => `${name}=${value}`);
  const plan = newPlan(restart, { path, args: [...args], envs: variables }, kept);
  if (plan === undefined) throw new Error('there is no plan for a program that is kept');
  return plan;
}

function entryOf({ path, envs, sha256, limits, stopSignal, stopEvent }: KeptProgram) {
  return {
    ...{ path, envs: Object.keys(envs), lasting: GRANT },
    ...(sha256 && { sha256 }),
    ...(limits && { limits }),
    ...(stopSignal && { stopSignal }),
    ...(stopEvent !== undefined && { stopEvent }),
  } satisfies AllowedExecutable;
}

function labelOf(program: KeptProgram): string {
  return `${PREFIX}${program.name ?? fileName(program)}`;
}

function fileName({ path }: KeptProgram): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

export function isKept(label: string): boolean {
  return label.startsWith(PREFIX);
}

/** Creates the entry of a kept program whose first attempt is due now. */
export function newKept(
  { label, plan, grantedBy, grant }: WantedProgram,
  spools: Pick<Shares, 'take'>,
  nowMs: number,
): Entry {
  const { spoolBytes, maxAgeMs } = grant;
  const mark = randomBytes(16).toString('hex');
  const none = { name: '', path: grantedBy.path, entry: '', stagedPath: '', sha256: '' };
  const facts: Entry['facts'] = {
    ...{ version: 1, label, keeper: '', pid: 0, startToken: '', startedAtMs: nowMs },
    ...{ run: { ...none, mark }, owner: ownerFacts(HOST), spoolBytes, maxAgeMs },
  };
  const next = { kind: 'again', atMs: nowMs } as const;
  const claim = spools.take(HOST, { amount: spoolBytes });
  const changes = new EventEmitter();
  const entry = newEntry({ label, facts, plan: { ...plan, next }, claim, changes });
  return Object.assign(entry, { end: lostEnd(mark, 0) });
}
