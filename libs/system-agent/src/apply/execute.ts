import { messageOf } from '@wins/base';
import path from 'node:path';
import type { Command } from '../plan/plan.js';
import type { ProgramRunner } from '../ports.js';
import { CapturedOutput } from './captured-output.js';
import { datecode } from './unix-date.js';
import { findCommand } from './find-command.js';
import type { OutputFile, OutputFiles } from './output-files.js';
import type { FailedInstruction, Pass } from './pass.js';
import type { AgentOptions } from '../system-agent.js';
import type { Warnings } from './warnings.js';
import type { WorkFolder } from './work-folder.js';

/** Options of `createApplier`: those of the agent, without the sources of plans. */
export type ApplierOptions = Omit<AgentOptions, 'localPlanDirectory' | 'secrets' | 'trust'>;

export interface PassContext {
  readonly options: ApplierOptions;
  readonly pass: Pass;
  /** Start of the pass, for file names and the times of periodic instructions. */
  readonly now: Date;
  readonly work: WorkFolder;
  readonly outputs: OutputFiles;
  readonly warnings: Warnings;
  readonly signal: AbortSignal;
}

const DEFAULT_COMMAND = 'run.sh';
const DEFAULT_EXTENSIONS = '.COM;.EXE;.BAT;.CMD';
const STDERR_END_BYTES = 4096;

export interface Execution {
  readonly command: Command;
  readonly index: number;
  readonly periodic: boolean;
  readonly attempt: number;
}

export interface ExecutionResult {
  /** -1: not started, or ended by a signal. */
  readonly exitCode: number;
  readonly stdout: Buffer | null;
  readonly stderr: Buffer | null;
  readonly failure?: FailedInstruction;
}

/**
 * Waits until the instruction has ended and closed its outputs. A failed start is a result, not an exception.
 * @throws the signal's reason after an abort, or the error of `onAction`.
 */
export async function execute(context: PassContext, execution: Execution) {
  const { pass, options, signal } = context;
  const { command, index, periodic, attempt } = execution;
  const about = {
    source: pass.source,
    checksum: pass.checksum,
    instruction: command.name === undefined || command.name === '' ? `${index}` : command.name,
  };
  signal.throwIfAborted();
  const shown = command.command === undefined ? '' : command.command;
  await options.onAction({
    kind: 'instruction',
    ...about,
    periodic,
    command: shown === '' ? DEFAULT_COMMAND : shown,
    attempt,
  });
  const stdout = new CapturedOutput();
  const stderr = new CapturedOutput();
  let exitCode = -1;
  let failure: unknown;
  try {
    exitCode = await runIn(context, execution, { stdout, stderr });
  } catch (error) {
    failure = error;
  }
  signal.throwIfAborted();
  const stderrEnd = stderr.end(STDERR_END_BYTES).toString();
  options.onEvent({
    kind: 'instructionEnded',
    ...about,
    exitCode,
    stderrEnd,
    ...(failure instanceof Error ? { error: failure } : {}),
  });
  const { instruction } = about;
  const said = failure === undefined ? stderrEnd : messageOf(failure).slice(-STDERR_END_BYTES);
  return {
    exitCode,
    stdout: stdout.value(),
    stderr: stderr.value(),
    ...(exitCode !== 0 && { failure: { instruction, exitCode, stderrEnd: said } }),
  };
}

async function runIn(
  context: PassContext,
  execution: Execution,
  captured: Readonly<Record<'stdout' | 'stderr', CapturedOutput>>,
): Promise<number> {
  const { pass, options, signal, now, work } = context;
  const { programs, images } = options;
  const { command, index, periodic } = execution;
  const isWindows = process.platform === 'win32';
  const kind = periodic ? 'periodic_' : '';
  const folder = await work.make(now, `${pass.checksum}_${kind}${index}`);
  if (command.image !== undefined && command.image !== '')
    await images.unpack(command.image, folder, { signal });
  const { searchPath, environment: agent } = programs;
  const search = { folder, searchPath, extensions: extensionsOf(agent), isWindows };
  const name = command.command ?? '';
  const file = name === '' ? path.join(folder, DEFAULT_COMMAND) : await findCommand(name, search);
  const env = executionEnvironment(execution, folder, programs, isWindows);
  const whole = await openOutput(context, `${kind}${index}`);
  try {
    const onOutput = (stream: 'stdout' | 'stderr', bytes: Buffer): void => {
      captured[stream].add(bytes);
      whole?.add(bytes);
    };
    signal.throwIfAborted();
    return await programs.run(
      { file, args: command.args, env, directory: folder, onOutput },
      { signal },
    );
  } finally {
    if (whole !== undefined) tellOutputs(context, await whole.close());
  }
}

/** Undefined on failure: an instruction runs even if its output cannot be stored. */
async function openOutput(context: PassContext, suffix: string): Promise<OutputFile | undefined> {
  const { outputs, pass, now } = context;
  try {
    return await outputs.open(`${datecode(now)}-${pass.checksum.slice(0, 12)}-${suffix}`);
  } catch (error) {
    tellOutputs(context, error);
    return undefined;
  }
}

function tellOutputs({ warnings, pass }: PassContext, error: unknown): void {
  const message = 'the whole outputs of instructions are not kept on the node';
  warnings.tell(pass.source, 'outputs', error === undefined ? undefined : message, error);
}

function extensionsOf(environment: Readonly<Record<string, string>>): string[] {
  const [, text = DEFAULT_EXTENSIONS] =
    Object.entries(environment).find(([name]) => name.toUpperCase() === 'PATHEXT') ?? [];
  return text.split(';').filter((extension) => extension !== '');
}

/**
 * The last variable of a name wins, so a plan cannot override the agent's `PATH` and `CATTLE_AGENT_` variables.
 * Keeps entries without `=`, because plans for Windows contain them.
 */
export function executionEnvironment(
  { command, attempt }: { readonly command: Pick<Command, 'env'>; readonly attempt: number },
  folder: string,
  { environment, searchPath }: Pick<ProgramRunner, 'environment' | 'searchPath'>,
  isWindows: boolean,
): string[] {
  const entries = [
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ...command.env,
    `CATTLE_AGENT_EXECUTION_PWD=${folder}`,
    `CATTLE_AGENT_ATTEMPT_NUMBER=${attempt}`,
    `PATH=${[...searchPath, folder].join(isWindows ? ';' : ':')}`,
  ];
  const seen = new Set<string>();
  const isLast = (entry: string): boolean => {
    const end = entry.indexOf('=', 1);
    if (end < 0) return true;
    const name = isWindows ? entry.slice(0, end).toUpperCase() : entry.slice(0, end);
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  };
  return entries.reverse().filter(isLast).reverse();
}
