import { connectPipe, resolvePipePath } from '@wins/pipe-transport';
import { ProcessError } from '@wins/process-manager';
import { fileFingerprint, hashFile, type FileTrust } from '@wins/trusted-files';
import type { WinsClient } from '@wins/wins-api';
import { canonicalPath, COMMIT, messageOf, quoteText, VERSION, type ProcessHost } from '@wins/base';
import { access, constants, lstat, stat } from 'node:fs/promises';
import { release, type } from 'node:os';
import path from 'node:path';
import { freeBytes } from '../free-bytes.js';
import { descriptorsOf, dial, dialAt, keptEvents } from './host-facts.js';
import { auditDirectoryOf } from '../kept-directory.js';
import { verifyAuditLog } from '../kernel/audit/verify-audit-log.js';
import { factsIn } from '../kernel/told-facts.js';
import { readFacts, readState } from '../client/feature-facts.js';
import { DaemonConnections } from '../client/daemon-connections.js';
import {
  askRunningDaemon,
  callRunningDaemon,
  type RunningDaemonOptions,
} from '../client/running-daemon.js';
import { configFileOf, loadDaemonConfig, loadKeptConfig } from '../load-daemon-config.js';
import type { OperatingSystem } from '../kernel/operating-system.js';
import { sparingUpgrader } from '../kernel/process-hosts.js';
import type { AuditFolder, DoctorHost, FileJudgement, PipeAccess } from '../kernel/doctor-host.js';

const ANSWER_TIMEOUT_MS = 5000;
const DAY_MS = 86_400_000;
const QUESTION = {
  asker: 'wins doctor',
  timeoutMs: ANSWER_TIMEOUT_MS,
  nextStep: 'start the daemon, or see its log',
};
/** Equals the default size of an audit log file. */
const VERIFIED_BYTES = 8 * 1024 * 1024;
const OTHERS = 0o077;

export interface LocalDoctorHostOptions {
  /** Default: the system's config file. */
  readonly config: string | undefined;
  readonly executable: string;
  readonly system: OperatingSystem;
  /** Oldest event to read. Default: the events of the last 24 hours. */
  readonly eventsSince?: Date | undefined;
}

/** For POSIX systems; Windows overrides some members. The caller closes it. */
export function localDoctorHost(options: LocalDoctorHostOptions): DoctorHost & AsyncDisposable {
  const { config: named, executable, system } = options;
  const security = system.pipeServerCheck?.();
  const connections = new DaemonConnections();
  let host: ProcessHost | undefined;
  const yesterday = new Date(Date.now() - DAY_MS);
  let kept: ReturnType<DoctorHost['events']> | undefined;
  const events = (server: string) =>
    (kept ??= answers().then((asks) =>
      keptEvents({ server, connections }, options.eventsSince ?? yesterday, asks),
    ));
  let info: ReturnType<DoctorHost['daemonInfo']> | undefined;
  let checksum: Promise<string> | undefined;
  let status: ReturnType<DoctorHost['daemonStatus']> | undefined;
  /** False once a daemon did not answer, because each further question would wait for the time limit, too. */
  const answers = (): Promise<boolean> =>
    Promise.resolve(info).then(
      () => true,
      () => false,
    );
  const processes = (): ProcessHost =>
    (host ??= sparingUpgrader(system.processHost(), executable, system.fileTrust()));
  const reached = new Map<string, Promise<void>>();
  const reach = async (name: string) => void (await connectPipe(name, { security })).destroy();
  return {
    versions: () => {
      const user = process.geteuid?.();
      const asked = user === undefined ? '' : `, run by user ${user}`;
      const wins = { version: VERSION, commit: COMMIT };
      return { wins, node: process.versions.node, system: `${type()} ${release()}${asked}` };
    },
    programFingerprint: () => fileFingerprint(executable, { followLinks: true }),
    programChecksum: () =>
      (checksum ??= hashFile(executable, ['sha1'], { followLinks: true }).then(({ sha1 }) => sha1)),
    configFile: configFileOf(named),
    loadConfig: () => loadDaemonConfig(named),
    loadKeptConfig: (known) => loadKeptConfig(named, known),
    judgeFolder: (folder) => judgementOf(processes().assertTrustedDirectory(canonicalPath(folder))),
    judgeWatchedFile: (file) => judgementOf(processes().assertTrustedFile(file)),
    auditFolder: async (config) => {
      const directory = canonicalPath(auditDirectoryOf(config));
      const judgement = await judgementOf(processes().assertTrustedDirectory(directory));
      const found = judgement.kind === 'missing' ? { faults: [] } : await lookInto(directory);
      return { path: directory, judgement, ...found };
    },
    verifyAudit: (directory) => verifyAuditLog(directory, { newestBytes: VERIFIED_BYTES }),
    freeBytes,
    events,
    recentEvents: async (server) => {
      const from = yesterday.toISOString();
      return (await events(server)).filter(({ time }) => time >= from);
    },
    descriptors: descriptorsOf,
    dial,
    dialAt,
    reachPipe: (name) => {
      const known = reached.get(name) ?? reach(name);
      reached.set(name, known);
      return known;
    },
    pipeAccess: (name) => socketAccess(resolvePipePath(name).address, system.fileTrust()),
    daemonInfo: (server) => {
      const ask = (client: WinsClient, signal: AbortSignal) => client.info({ signal });
      return (info ??= askRunningDaemon({ server, connections }, ask, {
        ...QUESTION,
        pipe: 'main',
      }));
    },
    daemonStatus: (server) =>
      (status ??= Promise.resolve(info).then(() => statusOf({ server, connections }))),
    featureFacts: async (server, feature) =>
      factsIn(await readFacts({ server, connections }, [feature], QUESTION), feature),
    call: (server, method, request) =>
      callRunningDaemon({ server, connections }, method, request, QUESTION),
    processes,
    fileTrust: system.fileTrust,
    now: () => Date.now(),
    systemChecks: [],
    logLocation: 'its standard error',
    [Symbol.asyncDispose]: () => connections[Symbol.asyncDispose](),
  };
}

async function statusOf(daemon: RunningDaemonOptions): ReturnType<DoctorHost['daemonStatus']> {
  const { startedAt, ...status } = await readState(daemon, [], QUESTION);
  return { ...status, startedAtMs: Date.parse(startedAt) };
}

async function judgementOf(check: Promise<void>): Promise<FileJudgement> {
  try {
    await check;
    return { kind: 'trusted' };
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error;
    const { code, message } = error;
    if (code === 'notFound') return { kind: 'missing' };
    if (code === 'pathNotTrusted') return { kind: 'untrusted', message };
    throw error;
  }
}

async function lookInto(directory: string): Promise<Pick<AuditFolder, 'faults'>> {
  const faults: string[] = [];
  const mode = (await stat(directory)).mode & 0o7777;
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
    faults.push(`it has mode ${mode.toString(8)}; wanted 700`);
  await access(directory, constants.W_OK).catch((error: unknown) =>
    faults.push(`it is not writable: ${messageOf(error)}`),
  );
  return { faults };
}

async function socketAccess(address: string, trust: FileTrust): Promise<PipeAccess> {
  const socket = await lstat(address);
  const distrust = trust.distrustOfFolder(path.dirname(address));
  const faults: string[] = [];
  if (!socket.isSocket()) faults.push('it is not a socket');
  if ((socket.mode & OTHERS) !== 0)
    faults.push('users other than its owner can open it; wanted mode 600');
  if (socket.uid !== 0 && socket.uid !== process.geteuid?.())
    faults.push(`user ${socket.uid} owns it; wanted root or this user`);
  if (distrust !== undefined)
    faults.push(`others can replace it: ${quoteText(distrust.path)}: ${distrust.found}`);
  return { found: `mode ${(socket.mode & 0o777).toString(8)}, user ${socket.uid}`, faults };
}
