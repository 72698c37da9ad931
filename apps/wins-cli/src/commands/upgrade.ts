// Longer than most files because it is one protocol: it requests the upgrade, and waits for the result while the daemon is replaced.
import { WinsClientError, type ProcessName, type WinsClient } from '@wins/wins-api';
import {
  escapeText,
  EXIT,
  messageOf,
  quoteText,
  UsageError,
  type CommandSurroundings,
  type Show,
} from '@wins/base';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command-error.js';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';
import type { DeliveredConfigs } from '../delivery/delivered-configs.js';
import { deliverFile } from '../delivery/deliver-file.js';
import { showProgress } from '../progress.js';
import { digestProgram, type ProgramDigests } from '../delivery/program-digests.js';

export interface UpgradeOptions extends DaemonOptions {
  readonly path: string;
  readonly from?: string | undefined;
  readonly once?: string | undefined;
  readonly config?: string | undefined;
  readonly 'allow-drop': readonly string[];
  readonly configs: () => DeliveredConfigs;
  readonly output?: string | undefined;
}

interface UpgradeReport {
  readonly id?: string;
  readonly outcome: string;
  readonly reason: string;
  /** True when the upgrade was rolled back without any visible fault of the release: after a power failure or a killed helper. */
  readonly interrupted: boolean;
}

/** `noReport`: the helper ended by itself and printed nothing. Undefined: the daemon ended first, or the helper knows of no upgrade. */
type HelperAnswer = UpgradeReport | 'noReport' | undefined;

interface Program extends ProgramDigests {
  readonly path: string;
}

/** Larger than any report. */
const LONGEST_REPORT = 64 * 1024;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 5000;
/** Short, because the helper has just proven this daemon healthy. */
const INFO_LIMIT_MS = 10_000;
const SHOW_AFTER_MS = 1000;
/** Maximum number of interrupted attempts with one `--once` name. Limited, because the release itself may cause the interruptions. */
const ATTEMPTS = 3;
const SHOW_RESULT = ['up', '--show-result'];
/** Outcomes of `up --show-result --id` for an upgrade without a result. */
const LOST: ReadonlySet<string> = new Set(['interrupted', 'none']);
const UNFINISHED: ReadonlySet<string> = new Set([...LOST, 'running']);
const EXIT_OF = new Map<string, number>([
  ['upgraded', EXIT.client.ok],
  ['nothing', EXIT.client.ok],
  ['refused', EXIT.client.refused],
]);

export async function upgradeDaemon(options: UpgradeOptions, { show }: CommandSurroundings) {
  return report(await upgrade(options), options, show);
}

/** Makes the daemon run the helper, which replaces the daemon. Then asks the next daemon for the result. Shows its progress until it returns. */
async function upgrade(options: UpgradeOptions): Promise<UpgradeReport> {
  const file = path.resolve(options.path);
  await permitDrops(options);
  await putBack(options, file);
  const program = { path: file, ...(await digestProgram(file)) };
  const endMs = performance.now() + options['wait-timeout'];
  const tell = (text: string): void => {
    if (process.stderr.isTTY && !options.quiet) process.stderr.write(`wins: ${text}\n`);
  };

  const showing = (text: string): Disposable =>
    showProgress(text, { afterMs: SHOW_AFTER_MS, quiet: options.quiet });

  using asking = showing('querying the latest upgrade');
  const attempt = await nextAttempt(options, endMs, program);
  if (typeof attempt === 'object') return attempt;
  const { once } = options;
  const id =
    once === undefined ? randomUUID() : `${once}-${attempt}x${randomBytes(4).toString('hex')}`;

  const config = await configWords(options, endMs);
  asking[Symbol.dispose]();
  tell(`handed ${options.path} to the daemon`);
  using handing = showing('the helper checks whether it may upgrade');
  await putBack(options, program.path, program.sha256);
  const first = await ask(options, endMs, program, ['up', '--json', `--id=${id}`, ...config]);
  if (typeof first === 'object' && first.outcome !== 'handedOver') return first;

  handing[Symbol.dispose]();
  tell('replacing the daemon');
  using _replacing = showing('waiting for the new daemon');
  const last = await result(options, endMs, program, id);
  if (last.outcome === 'upgraded') await compare(options, program);
  return last;
}

/**
 * Records, in a file beside the config, which keys the config may drop. The upgrade helper does not accept these keys as an argument, because any
 * client of the daemon can run the helper with arguments of its choice.
 */
async function permitDrops({ config, configs, ...options }: UpgradeOptions): Promise<void> {
  const keys = options['allow-drop'];
  if (keys.length === 0) return;
  if (config === undefined) throw new UsageError('--allow-drop needs --config');
  const { sha256 } = await digestProgram(config, '--config');
  await configs().permitDrops(path.resolve(config), sha256, keys);
}

/** Limits attempts, because each one stops the daemon. @returns The next attempt's number, or the final result of an earlier attempt. */
async function nextAttempt(options: UpgradeOptions, endMs: number, program: Program) {
  if (options.once === undefined) return 1;
  let found: UpgradeReport | undefined;
  try {
    const answer = await ask(options, endMs, program, SHOW_RESULT);
    if (typeof answer === 'object') found = answer;
  } catch {
    // Ignored: either there is no result yet, or the upgrade itself will fail for the same reason.
  }
  const [, name, attempt] = /^(.*)-(\d)x[^-]*$/.exec(found?.id ?? '') ?? [];
  if (name !== options.once || found?.outcome !== 'rolledBack') return 1;
  if (found.interrupted && Number(attempt) < ATTEMPTS) return Number(attempt) + 1;
  return { ...found, reason: `${found.reason}; not retried as ${options.once}` };
}

/** Waits for the result of the upgrade `id`, unless the helper reports that no process works on it any more. */
async function result(
  options: UpgradeOptions,
  endMs: number,
  program: Program,
  id: string,
): Promise<UpgradeReport> {
  let lastError: unknown;
  let isLost = false;
  for (let delayMs = FIRST_DELAY_MS; performance.now() < endMs;) {
    await delay(delayMs);
    delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
    try {
      await putBack(options, program.path, program.sha256);
      const answer = await ask(options, endMs, program, [...SHOW_RESULT, `--id=${id}`]);
      if (typeof answer === 'object' && answer.id === id && !UNFINISHED.has(answer.outcome))
        return answer;
      const reason = whyLost(answer, id);
      // One such answer is no proof: the daemon may be ending, or may be about to finish the upgrade.
      if (reason !== undefined && isLost)
        return { id, outcome: 'failed', reason, interrupted: false };
      isLost = reason !== undefined;
    } catch (error) {
      lastError = error;
      isLost = false;
    }
  }
  const found = lastError === undefined ? '' : `: ${messageOf(lastError)}`;
  throw new CommandError(
    `the upgrade did not end within --wait-timeout${found}. Run "wins up --show-result" on the host`,
  );
}

/** Returns why no process works on the upgrade any more; undefined if one may. */
function whyLost(answer: HelperAnswer, id: string): string | undefined {
  if (answer === 'noReport')
    return 'the upgrade helper ends without a report. Run "wins up --show-result" on the host';
  const isLost = answer?.id === id && LOST.has(answer.outcome);
  return isLost ? answer.reason : undefined;
}

/** Restores the helper at its path: Go daemons rename the programs that they run, but the next daemon needs the helper there. */
async function putBack({ from }: UpgradeOptions, file: string, sha256?: string): Promise<void> {
  if (existsSync(file)) return;
  const renamed = path.join(path.dirname(file), `rancher-wins-${path.basename(file)}`);
  const source = from === undefined ? renamed : path.resolve(from);
  // Without a digest to compare, the renamed file might be another program.
  if (from === undefined && (sha256 === undefined || !existsSync(renamed))) return;
  await deliverFile({ from: source, to: file, sha256, waitTimeoutMs: 0 });
}

/** Tells the helper to set the config of a Go daemon's service. The service of any other daemon must use `config` already. */
async function configWords(options: UpgradeOptions, endMs: number): Promise<readonly string[]> {
  const { config } = options;
  if (config === undefined) return [];
  const leftMs = Math.max(1, Math.ceil(endMs - performance.now()));
  const signal = AbortSignal.timeout(leftMs);
  const isOriginal = await withDaemon(
    options,
    (client) =>
      client.isServing({ signal }).then(
        () => false,
        (error: unknown) => {
          if (error instanceof WinsClientError && error.code === 'unimplemented') return true;
          throw error;
        },
      ),
    { waitTimeoutMs: leftMs },
  );
  return isOriginal ? [`--wins-args=${winsArgs(config)}`] : [`--expect-config=${config}`];
}

/** Checks that the new release answers, because another daemon may have replaced it since the upgrade. */
async function compare(options: UpgradeOptions, program: Program): Promise<void> {
  const patience = { waitTimeoutMs: 0, answerTimeoutMs: INFO_LIMIT_MS };
  const info = await withDaemon(options, (client) => client.info(), patience);
  if (info.checksum.toLowerCase() === program.sha1) return;
  throw new CommandError(
    `the upgrade succeeded, but the daemon that answers is release ${info.version} with SHA-1 ${info.checksum}; wanted ${program.sha1}`,
  );
}

function winsArgs(config: string): string {
  if (!config.includes('"')) return `--config "${config}"`;
  throw new UsageError(`--config ${config}: the path must not contain a quotation mark`);
}

async function report(
  { id, outcome, reason }: UpgradeReport,
  { output }: UpgradeOptions,
  show: Show,
): Promise<number> {
  const exitCode = EXIT_OF.get(outcome) ?? EXIT.client.failed;
  if (exitCode === EXIT.client.ok || output !== 'text')
    await show({
      value: { id, outcome, reason },
      text: `wins: ${outcome}: ${escapeText(reason)}\n`,
      names: id === undefined ? [] : [id],
    });
  if (exitCode !== EXIT.client.ok) throw new CommandError(`${outcome}: ${reason}`, exitCode);
  return exitCode;
}

/** @throws CommandError at the deadline. */
async function ask(
  options: UpgradeOptions,
  endMs: number,
  program: Program,
  args: readonly string[],
): Promise<HelperAnswer> {
  const waitTimeoutMs = Math.max(0, Math.ceil(endMs - performance.now()));
  const signal = AbortSignal.timeout(Math.max(1, waitTimeoutMs));
  try {
    const run = async (client: WinsClient): Promise<HelperAnswer> => {
      const request = {
        path: program.path,
        dir: path.dirname(program.path),
        args: [...args],
        checksum: program.sha1,
        checksumSha256: program.sha256,
      };
      const name = await client.startProcess(request, { signal });
      return await readAnswer(client, name, signal);
    };
    return await withDaemon(options, run, { waitTimeoutMs });
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const found = `the daemon on pipe "${options.server}" gave no answer within --wait-timeout; run "wins doctor" on the host to see why`;
    throw new CommandError(found, EXIT.client.failed, { cause });
  }
}

async function readAnswer(
  client: WinsClient,
  name: ProcessName,
  signal: AbortSignal,
): Promise<HelperAnswer> {
  const run = client.holdProcess(name, { signal });
  const texts = { stdout: '', stderr: '' };
  let isDaemonGone = false;
  try {
    for await (const part of run.output) {
      // A Go daemon reports no exit.
      if (part.stream === 'end') isDaemonGone = part.reason === 'daemonStopping';
      if (part.stream === 'end' || part.stream === 'skipped') continue;
      texts[part.stream] += part.bytes.toString();
      if (texts[part.stream].length > LONGEST_REPORT) break;
    }
  } catch (error) {
    if (!(error instanceof WinsClientError && error.isDaemonLost)) throw error;
    isDaemonGone = true;
  } finally {
    // Wait for the daemon's answer: a Go daemon would end the next run of the helper together with this one.
    isDaemonGone = (await run.end())?.isDaemonLost === true || isDaemonGone;
  }
  if (texts.stdout.trim() === '' && texts.stderr.trim() === '')
    return isDaemonGone ? undefined : 'noReport';
  return parseReport(texts.stdout, texts.stderr);
}

function parseReport(stdout: string, stderr: string): UpgradeReport | undefined {
  if (stdout.trim() === '') throw new CommandError(`the helper failed: ${stderr.trim()}`);
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch (error) {
    const found = quoteText(stdout, { maxLength: 200 });
    throw new CommandError(
      `the helper printed ${found}; wanted a JSON report`,
      EXIT.client.failed,
      { cause: error },
    );
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, outcome, reason, interrupted } = value as Partial<Record<string, unknown>>;
  return {
    ...(typeof id === 'string' && { id }),
    outcome: typeof outcome === 'string' ? outcome : 'unknown',
    reason: typeof reason === 'string' ? reason : '',
    interrupted: interrupted === true,
  };
}
