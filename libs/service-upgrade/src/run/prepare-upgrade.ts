import type { SignerRule } from '@wins/base';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';
import type { UpgradePaths } from '../journal/upgrade-paths.js';
import { writeResult, type UpgradeResult } from '../journal/upgrade-result.js';
import {
  planUpgrade,
  refuseProgram,
  type UpgradePlan,
  type UpgradeRequest,
} from '../plan/plan-upgrade.js';
import { configFileOf } from '../plan/service-args.js';
import type { ServiceCommand } from '../service/service-command.js';
import { SignedProgram } from '../signature/signed-program.js';
import { UpgradeError } from '../upgrade-error.js';
import { passHealthGate } from './health-gate.js';
import { copyProgram, readProgram } from './read-program.js';
import { askVersion } from './run-program.js';
import type { ServiceStatus } from '../service/service-control.js';
import type { UpgradeContext } from './upgrade-context.js';

/** Result of preparing an upgrade. The preparation changes nothing, except that it creates `copy`. */
export interface PreparedUpgrade {
  readonly plan: UpgradePlan;
  readonly status: ServiceStatus | undefined;
  readonly installed: ProgramIdentity | undefined;
  readonly offered: ProgramIdentity;
  readonly copy: string;
}

/** The caller holds the lock, and removes the copy. @throws UpgradeError */
export async function prepareUpgrade(
  context: UpgradeContext,
  paths: UpgradePaths,
  program: string,
  request: UpgradeRequest,
  copy: string,
): Promise<PreparedUpgrade> {
  const { host, effects, service } = context;
  const status = await service.query();
  const signed = new SignedProgram();
  const read = await copyProgram(effects, 'offered program', program, copy, signed);
  const { sha256, sha1, format } = read;
  const bytes = { sha256, sha1 };
  // Asked for after the copy, which takes long enough for a new config to arrive.
  const signers = (await context.signers?.(status, request)) ?? [];
  const reason =
    refuseProgram({ sha256, format }, host, request) ?? (await refuseUnsigned(signed, signers));
  if (reason !== undefined) {
    const plan = { kind: 'refusal', reason } as const;
    return { plan, status, installed: undefined, offered: bytes, copy };
  }
  const offered = await identify(context, copy, bytes);
  const there = await readProgram(paths.target);
  const unknown = there && { sha256: there.sha256, sha1: there.sha1 };
  const installed = there && (await identify(context, paths.target, there).catch(() => unknown));
  const isSame = installed?.sha256 === sha256;
  const isServing =
    isSame && status?.state === 'running' && (await serves(context, status, offered));
  const plan = planUpgrade({
    isServing,
    platform: host.platform,
    arch: host.arch,
    target: paths.target,
    defaultConfig: context.defaultConfig,
    service: status,
    installed,
    offered,
    request,
    holdsTarget:
      host.platform === 'win32' && context.ownFile.toLowerCase() === paths.target.toLowerCase(),
  });
  if (plan.kind !== 'steps') return { plan, status, installed, offered, copy };
  const { allowDrop = [] } = request;
  const configOf = ({ args }: ServiceCommand) => configFileOf(args, context.defaultConfig);
  const configs = { before: status && configOf(status.command), after: configOf(plan.command) };
  const drops = await context.refuseDrops?.({ ...configs, allowDrop });
  if (drops !== undefined) {
    const refused = { kind: 'refusal', reason: drops } as const;
    return { plan: refused, status, installed, offered, copy };
  }
  const runs = status?.state === 'running' ? await runsOf(context, status) : undefined;
  return { plan: runs === undefined ? plan : { ...plan, runs }, status, installed, offered, copy };
}

/** Undefined if the daemon does not report its runs, or if the config with the pipe's name is unreadable. */
async function runsOf({ pipeOf, runsOf: ask }: UpgradeContext, { command }: ServiceStatus) {
  const pipe = await pipeOf(command.args).catch(() => undefined);
  return pipe === undefined ? undefined : ask?.(pipe);
}

async function refuseUnsigned(signed: SignedProgram, signers: readonly SignerRule[]) {
  const found = await signed.refuseByAll(signers);
  return found && `the offered program is not trusted: ${found}`;
}

export async function conclude(
  { id, effects }: UpgradeContext,
  paths: UpgradePaths,
  { installed, offered }: PreparedUpgrade,
  { kind, reason }: Exclude<UpgradePlan, { kind: 'steps' }>,
): Promise<UpgradeResult> {
  const result: UpgradeResult = {
    id,
    outcome: kind === 'refusal' ? 'refused' : 'nothing',
    reason,
    from: installed && releaseOf(installed),
    to: releaseOf(offered),
    target: paths.target,
    log: paths.log,
  };
  await writeResult(effects, paths, result);
  return result;
}

export function releaseOf({ sha256, version }: ProgramIdentity): Omit<ProgramIdentity, 'sha1'> {
  return { sha256, version };
}

async function identify(
  { knownVersions, runMs }: UpgradeContext,
  file: string,
  { sha256, sha1 }: ProgramIdentity,
): Promise<ProgramIdentity> {
  const version = knownVersions?.get(sha256) ?? (await askVersion(file, { timeoutMs: runMs }));
  return { sha256, sha1, version };
}

async function serves(
  { probe, service, waitMs, pipeOf }: UpgradeContext,
  { command }: ServiceStatus,
  wanted: ProgramIdentity,
): Promise<boolean> {
  try {
    const pipe = await pipeOf(command.args);
    await passHealthGate({
      probe,
      service,
      pipe,
      wanted,
      timeoutMs: waitMs,
      healthRequired: false,
    });
    return true;
  } catch (error) {
    if (error instanceof UpgradeError && error.code === 'unhealthy') return false;
    throw error;
  }
}
