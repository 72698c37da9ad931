import {
  lastEndOf,
  isBegun,
  stateOf,
  type DetachedRun,
  type DetachedRuns,
  type ManagedProcess,
  type OutputPart,
  type RunEnd,
  type RunFigures as Figures,
} from '@wins/process-manager';
import type {
  Run,
  RunDetails,
  RunEnd as RunEndMessage,
  RunFigures,
  RunReadResponse,
} from '@wins/wins-api/contract';
import { exitMessage } from '../runs/process-service.js';

export function processMessage(process: ManagedProcess): Run {
  const { name, lifetime, state, path, pid, startedAtMs, sha256, exposes, limits } = process;
  return {
    name,
    process: name,
    lifetime,
    state: state.kind,
    path,
    pid,
    startedAtMs,
    sha256,
    exposes: exposes.map(({ port, protocol }) => ({ port, protocol: protocol.toUpperCase() })),
    limits,
    restarts: 0,
  };
}

export function keptMessage(
  kept: DetachedRun,
  process: ManagedProcess | undefined,
  name: string,
): Run {
  const { facts, end, plan, refused } = kept;
  const { name: processName, path, sha256, limits } = facts.run;
  const next = end === undefined ? undefined : plan?.next;
  const mayRestart = plan?.when !== 'never' && lastEndOf(kept) === undefined;
  return {
    name,
    process: processName,
    lifetime: facts.leaseMs === undefined ? 'detached' : 'lease',
    state: process?.state.kind ?? stateOf(kept),
    path,
    pid: facts.pid,
    startedAtMs: isBegun(kept) ? facts.startedAtMs : 0,
    sha256,
    exposes: [],
    limits,
    end: end && isBegun(kept) ? endMessage(end) : undefined,
    restarts: plan?.restarts ?? 0,
    restartAtMs: next?.kind === 'again' ? next.atMs : undefined,
    gaveUp: next?.kind === 'gaveUp' ? next.reason : undefined,
    refused: refused?.message,
    needsSha256: mayRestart ? plan?.request.sha256 : undefined,
  };
}

export async function detailsOf(kept: DetachedRun, detached: DetachedRuns): Promise<RunDetails> {
  const { facts, plan } = kept;
  const { owner = 'config', restart, outputBytes, keptBytes } = await detached.inspect(kept);
  const { args, envs, directory } = plan?.request ?? { args: [], envs: [] };
  return {
    request: {
      args: [...args],
      variables: envs.map((variable) => variable.replace(/=[^]*/, '')),
      directory,
    },
    owner,
    restartPolicy: restart,
    failures: plan?.failures ?? 0,
    outputBytes,
    kept: {
      bytes: keptBytes,
      maxBytes: facts.spoolBytes,
      maxAgeMs: facts.maxAgeMs < Number.MAX_SAFE_INTEGER ? facts.maxAgeMs : undefined,
    },
  };
}

export async function detailsOfProcess(process: ManagedProcess | undefined): Promise<RunDetails> {
  const { stdoutBytes = 0, stderrBytes = 0 } = (await process?.measure())?.output ?? {};
  return { restartPolicy: 'no', failures: 0, outputBytes: stdoutBytes + stderrBytes };
}

export function figuresMessage({ usage, output }: Figures): RunFigures {
  return { usage: usage && { ...usage, cpuMs: Math.round(usage.cpuMs) }, ...output };
}

export function endMessage({ endedAtMs, outputBytes, ...exit }: RunEnd): RunEndMessage {
  return { ...exitMessage(exit), endedAtMs, outputBytes };
}

export function partMessage(part: OutputPart): RunReadResponse {
  const { offset, stream, bytes } = part;
  if (stream === 'skipped')
    return { offset, writtenAtMs: 0, options: { $case: 'skipped', value: bytes } };
  const $case = stream === 'stdout' ? 'stdOut' : 'stdErr';
  return { offset, writtenAtMs: part.timeMs, options: { $case, value: bytes } };
}
