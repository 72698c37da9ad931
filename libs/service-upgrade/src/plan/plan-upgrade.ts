import { escapeText } from '@wins/base';
import semver from 'semver';
import { isRunnable, type ProgramFormat } from './program-format.js';
import { mergeServiceArgs, refuseConfig } from './service-args.js';
import { isSameCommand, type ServiceCommand } from '../service/service-command.js';
import type { ServiceStatus } from '../service/service-control.js';
import { UpgradeError } from '../upgrade-error.js';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';
import { stepsOf, type PlannedStep, type UpgradeStep } from '../journal/upgrade-phases.js';

/** Conditions and options of the user who requests an upgrade. */
export interface UpgradeRequest {
  /** Arguments of the service, as one command line. Default: those of the present service. */
  readonly winsArgs?: string | undefined;
  /** Absolute path. The upgrade is refused when the service reads another config. */
  readonly expectConfig?: string | undefined;
  /** 64 hexadecimal digits. */
  readonly sha256?: string | undefined;
  readonly allowDowngrade: boolean;
  /** Keys that the new config may omit. Default: none. */
  readonly allowDrop?: readonly string[] | undefined;
}

/** State of the node, and the request, from which {@link planUpgrade} works. */
export interface UpgradeFacts {
  readonly platform: NodeJS.Platform;
  /** In Node's terms, such as `x64`. */
  readonly arch: string;
  /** Absolute path of the program that the upgrade replaces. */
  readonly target: string;
  /** Path of the config that a daemon reads if its arguments contain no `--config`. */
  readonly defaultConfig: string;
  /** Undefined when no service is registered. */
  readonly service: ServiceStatus | undefined;
  /** True when the target already is the offered program, and its daemon accepts work. */
  readonly isServing: boolean;
  /** Undefined when there is no program at the target. */
  readonly installed: ProgramIdentity | undefined;
  readonly offered: ProgramIdentity;
  /** True when this process runs from the target, which Windows cannot replace meanwhile. Default false. */
  readonly holdsTarget?: boolean | undefined;
  readonly request: UpgradeRequest;
}

/** Names of the daemon's runs that survive an upgrade, and of those that end. */
export interface RunsOfDaemon {
  readonly carriedOver: readonly string[];
  readonly ended: readonly string[];
}

/** Result of {@link planUpgrade}: nothing to do, a reason against the upgrade, or the steps. */
export type UpgradePlan =
  | { readonly kind: 'nothing'; readonly reason: string }
  | { readonly kind: 'refusal'; readonly reason: string }
  | {
      readonly kind: 'steps';
      readonly steps: readonly PlannedStep[];
      readonly command: ServiceCommand;
      /** Absent when no daemon reports its runs. */
      readonly runs?: RunsOfDaemon | undefined;
    };

/** Returns the reason to refuse the program, if any. The caller must not execute a refused program, not even to learn its version. */
export function refuseProgram(
  offered: { readonly sha256: string; readonly format: ProgramFormat },
  { platform, arch }: Pick<UpgradeFacts, 'platform' | 'arch'>,
  { sha256 }: UpgradeRequest,
): string | undefined {
  if (sha256 !== undefined && sha256.toLowerCase() !== offered.sha256)
    return `the offered program has the SHA-256 ${offered.sha256}; wanted ${sha256.toLowerCase()}`;
  const { format } = offered;
  return isRunnable(format, platform, arch)
    ? undefined
    : `the offered program is made for another system: found ${format.format} for ${format.arch}, wanted one for ${platform} on ${arch}`;
}

/** Plans an upgrade, or says why it is refused or needless. Pure. */
export function planUpgrade(facts: UpgradeFacts): UpgradePlan {
  const { service, target, installed, offered, request } = facts;
  const refuse = (reason: string): UpgradePlan => ({ kind: 'refusal', reason });
  if (target.includes('"')) return refuse(`the path ${target} has a quote in it`);
  if (service === undefined && request.winsArgs === undefined)
    return refuse('there is no service. Pass its arguments with --wins-args to register one');
  const older = refuseVersion(installed?.version, offered.version, request);
  if (older !== undefined) return refuse(older);

  let args: string[];
  try {
    args = mergeServiceArgs(service?.command.args, request.winsArgs);
  } catch (error) {
    if (error instanceof UpgradeError) return refuse(error.message);
    throw error;
  }
  const otherConfig = refuseConfig(args, request.expectConfig, facts.defaultConfig, facts.platform);
  if (otherConfig !== undefined) return refuse(otherConfig);
  // Keep the current spelling of the path, even if it leads through a link.
  const command = { imagePath: service?.command.imagePath ?? target, args };
  const sameCommand = service !== undefined && isSameCommand(service.command, command);
  if (installed?.sha256 === offered.sha256 && sameCommand && facts.isServing)
    return {
      kind: 'nothing',
      reason: `the release ${offered.version ?? ''} already serves with this digest`,
    };
  if (facts.holdsTarget === true)
    return refuse(
      `${target} runs this upgrade, and Windows cannot replace a running program. Run a copy of it in another folder`,
    );
  if (service?.isDisabled === true)
    return refuse('the service is disabled: once stopped, it could not be started again');
  const isTrial = service !== undefined && installed !== undefined;
  const steps = stepsOf(isTrial ? 'trial' : 'install').filter(({ step }) => {
    // Stop even a service that is not running, because the service manager may restart a crashed one at any moment.
    if (step === 'stop') return service !== undefined;
    return step !== 'register' || !isTrial || !sameCommand;
  });
  return { kind: 'steps', steps, command };
}

function refuseVersion(
  installed: string | undefined,
  offered: string | undefined,
  { allowDowngrade }: UpgradeRequest,
): string | undefined {
  if (offered === undefined) return 'the offered program does not report its release';
  // If the installed release is unknown, accept any offered release.
  if (allowDowngrade || installed === undefined || installed === offered) return undefined;
  const isComparable = semver.valid(offered) !== null && semver.valid(installed) !== null;
  if (isComparable && semver.gte(offered, installed)) return undefined;
  const how = isComparable ? 'is older than' : 'cannot be compared with';
  return `the offered release ${offered} ${how} the installed ${installed}. Use --allow-downgrade to accept it`;
}

/** Descriptions of the steps, for people, in the imperative. */
export const STEP_TEXT: Readonly<Record<UpgradeStep, string>> = {
  stage: 'copy the new program beside the old one, flush it, check its digest, run it once',
  checkConfig: 'make the new program check the config',
  stop: 'stop the service and wait until it has ended',
  lend: 'point the service to the new program',
  start: 'start the service',
  reclaim: 'point the service to the old program again, in case it is restarted',
  prove: 'wait until the daemon answers with the new release and digest and serves',
  replace: 'replace the old program with the new one by a single rename',
  register: 'register the service with its new arguments',
};

/** Returns numbered lines for people, or one line for a refusal. */
export function describePlan(plan: UpgradePlan): string {
  if (plan.kind === 'nothing') return `nothing to do: ${plan.reason}\n`;
  if (plan.kind === 'refusal') return `refused: ${plan.reason}\n`;
  const steps = plan.steps.map(({ step }, index) => `${index + 1}. ${step}: ${STEP_TEXT[step]}\n`);
  const { carriedOver = [], ended = [] } = plan.runs ?? {};
  return [
    ...steps,
    ...namesLine('runs that continue', carriedOver),
    ...namesLine('runs that end with the daemon', ended),
  ].join('');
}

/** Escapes the names, because they come from a daemon, and any process may pose as one. */
const namesLine = (what: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${what}: ${names.map((name) => escapeText(name)).join(', ')}\n`];
