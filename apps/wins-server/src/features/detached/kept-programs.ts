import type { JudgedValue, KeptProgram, LoadedConfig, WinsConfig } from '@wins/config';
import { messageOf } from '@wins/base';
import {
  checkAllowedExecutables,
  KEEP_PREFIX,
  newPlan,
  type AllowedExecutable,
  type KeptName,
  type DetachedGrant,
  type PathDialect,
  type RestartPlan,
  type WantedProgram,
} from '@wins/process-manager';
import { createHash } from 'node:crypto';
import { backoffOf } from '../../configuration/allowed-executables.js';
import type { JudgingOptions } from '../../kernel/judging-options.js';

const NO_EFFECT = { severity: 'warning', code: 'noEffect' } as const;

const GRANT: DetachedGrant = {
  maxRuns: 1,
  spoolBytes: 16 * 1024 * 1024,
  maxAgeMs: Number.MAX_SAFE_INTEGER,
};

/** Fault that makes the daemon ignore an entry of `keep`. */
interface KeepFault {
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
      label: labelOf(program),
      plan: planOf(program),
      grantedBy: entryOf(program),
    }));
}

function faultsOfKeep(
  { keep }: Pick<WinsConfig, 'keep'>,
  dialect: PathDialect,
): readonly KeepFault[] {
  const names = keep.map(labelOf);
  const repeated = names.flatMap((name, index) => {
    const first = names.indexOf(name);
    const found = `it has the name of entry ${first}`;
    return first === index ? [] : [{ index, found, wanted: 'another name' }];
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
  return [...never, ...tooLarge, ...repeated];
}

/** The daemon ignores a faulty entry, so it is an error only if `isStrict`. */
export function judgeKeep(
  { config }: LoadedConfig,
  { platform, isStrict }: JudgingOptions,
): readonly JudgedValue[] {
  const dialect = platform === 'win32' ? 'windows' : 'posix';
  return faultsOfKeep(config, dialect).map(({ index, found, wanted }) => ({
    ...(isStrict ? ({ severity: 'error' } as const) : NO_EFFECT),
    keyPath: `keep[${index}]`,
    found,
    expected: wanted,
    nextStep: 'correct it: it is ignored until then',
  }));
}

function planOf(program: KeptProgram): RestartPlan {
  const { path, args, envs, restart } = program;
  const kept = createHash('sha256').update(JSON.stringify(program)).digest('hex');
  const variables = Object.entries(envs).map(([name, value]) => `${name}=${value}`);
  const request = { path, args: [...args], envs: variables };
  return { ...newPlan(restart.policy, request, kept), backoff: backoffOf(program.restart) };
}

function entryOf(program: KeptProgram) {
  const { path, envs, sha256, limits, stopSignal, stopEvent } = program;
  return {
    path,
    envs: Object.keys(envs),
    detached: { ...GRANT, restart: backoffOf(program.restart) },
    ...(sha256 && { sha256 }),
    ...(limits && { limits }),
    ...(stopSignal && { stopSignal }),
    ...(stopEvent !== undefined && { stopEvent }),
  } satisfies AllowedExecutable;
}

function labelOf(program: KeptProgram): KeptName {
  return `${KEEP_PREFIX}${program.name ?? fileName(program)}`;
}

function fileName({ path }: KeptProgram): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}
