import { connectPipe, resolvePipePath } from '@wins/pipe-transport';
import { findOrphans, MAX_EXECUTABLE_BYTES, ProcessError, RunFolders } from '@wins/process-manager';
import { distrusted, hashFile, type FileTrust } from '@wins/trusted-files';
import type { WinsClient } from '@wins/wins-api';
import { detachedRunsDefinition, featureServiceDefinition } from '@wins/wins-api/contract';
import { canonicalPath, COMMIT, messageOf, quoteText, VERSION, type ProcessHost } from '@wins/base';
import { access, constants, lstat, stat } from 'node:fs/promises';
import { release, type } from 'node:os';
import path from 'node:path';
import { heavyParts } from '../load-heavy-parts.js';
import { allowedBy, judgeStartHere } from '../configuration/allowed-executables.js';
import { freeBytes } from '../free-bytes.js';
import { descriptorsOf, dial, dialAt, neighbours, recentEvents } from './host-facts.js';
import { auditDirectoryOf, stateDirectoryOf } from '../kept-directory.js';
import { verifyAuditLog } from '../kernel/audit/verify-audit-log.js';
import { factsIn } from '../kernel/told-facts.js';
import { readFacts } from '../commands/feature-facts.js';
import { askRunningDaemon, callRunningDaemon } from '../commands/running-daemon.js';
import {
  configFileOf,
  loadDaemonConfig,
  loadKeptConfig,
} from '../configuration/load-daemon-config.js';
import { missingKeys, servedNote } from '../configuration/served-note.js';
import type { OperatingSystem } from '../operating-system.js';
import { sparingUpgrader } from '../features/upgrade/process-hosts.js';
import { loadUpgrader } from '../features/upgrade/upgrader.js';
import type { Level } from '../kernel/conditions/condition.js';
import type { AuditFolder, DoctorHost, FileJudgement, PipeAccess } from './doctor-host.js';

const ANSWER_TIMEOUT_MS = 5000;
const REGISTRIES_TIMEOUT_MS = 120_000;
const QUESTION = {
  ...{ asker: 'wins doctor', timeoutMs: ANSWER_TIMEOUT_MS },
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
}

/** For POSIX systems; Windows overrides some members. */
export function localDoctorHost(options: LocalDoctorHostOptions): DoctorHost {
  const { config: named, executable, system } = options;
  const security = system.pipeServerCheck?.();
  let host: ProcessHost | undefined;
  let recent: ReturnType<DoctorHost['recentEvents']> | undefined;
  let info: ReturnType<DoctorHost['daemonInfo']> | undefined;
  let status: ReturnType<DoctorHost['daemonStatus']> | undefined;
  /** False once a daemon did not answer, because each further question would wait for the time limit, too. */
  const answers = (): Promise<boolean> =>
    Promise.resolve(info).then(
      () => true,
      () => false,
    );
  const processes = (): ProcessHost =>
    (host ??= sparingUpgrader(system.processHost(), executable, system.fileTrust()));
  const connect = (name: string) => connectPipe(name, { security });
  return {
    versions: async () => {
      const { sha1 } = await hashFile(executable, ['sha1'], { followLinks: true });
      const wins = { checksum: sha1, version: VERSION, commit: COMMIT };
      const user = process.geteuid?.();
      const asked = user === undefined ? '' : `, run by user ${user}`;
      return { wins, node: process.versions.node, system: `${type()} ${release()}${asked}` };
    },
    configFile: configFileOf(named),
    loadConfig: () => loadDaemonConfig(named),
    servedNote: (listen) => servedNote(listen, system.fileTrust()).read(),
    missingKeys: (before, loaded) => missingKeys(before, loaded, system.fileTrust()),
    loadKeptConfig: () => loadKeptConfig(named),
    judgeFolder: (folder) => judgementOf(processes().assertTrustedDirectory(canonicalPath(folder))),
    judgeWatchedFile: (file) => judgementOf(processes().assertTrustedFile(file)),
    auditFolder: async (config) => {
      const directory = canonicalPath(auditDirectoryOf(config));
      const judgement = await judgementOf(processes().assertTrustedDirectory(directory));
      const found = judgement.kind === 'missing' ? { faults: [] } : await lookInto(directory);
      return { path: directory, judgement, ...found };
    },
    verifyAudit: (directory) => verifyAuditLog(directory, { newestBytes: VERIFIED_BYTES }),
    latestUpgrade: () => loadUpgrader().latestUpgrade(),
    upgradeUnderWay: () => loadUpgrader().upgradeUnderWay(),
    judgeStart: (file, config) => judgeStartHere({ path: file }, config, processes()),
    freeBytes,
    recentEvents: (server) => (recent ??= answers().then((asks) => recentEvents(server, { asks }))),
    descriptors: descriptorsOf,
    ...{ dial, dialAt, neighbours },
    reachPipe: async (name) => void (await connect(name)).destroy(),
    pipeAccess: (name) => socketAccess(resolvePipePath(name).address, system.fileTrust()),
    daemonInfo: (server) => {
      const ask = (client: WinsClient, signal: AbortSignal) => client.info({ signal });
      return (info ??= askRunningDaemon({ server }, ask, { ...QUESTION, pipe: 'main' }));
    },
    daemonStatus: (server) => (status ??= Promise.resolve(info).then(() => statusOf(server))),
    livingRuns: (server) => livingRuns(server, processes(), system.fileTrust()),
    reachSecret: async (settings) => {
      const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
      try {
        return await heavyParts().agent().reachSecret(settings, system.fileTrust(), signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        const message = `the API server did not answer within ${ANSWER_TIMEOUT_MS / 1000} s`;
        throw new Error(message, { cause: error });
      }
    },
    checkRegistries: (settings) => {
      const signal = AbortSignal.timeout(REGISTRIES_TIMEOUT_MS);
      const { checkRegistries, checkOptions } = heavyParts().registries();
      return checkRegistries(checkOptions(settings, system.fileTrust()), signal);
    },
    detachedRuns: async (server) => {
      const { runs } = await callRunningDaemon(
        { server },
        detachedRunsDefinition.list,
        {},
        QUESTION,
      );
      return runs;
    },
    digestOf: async (file) =>
      (await hashFile(file, ['sha256'], { maxBytes: MAX_EXECUTABLE_BYTES })).sha256,
    featureFacts: async (server, feature) =>
      factsIn(await readFacts({ server }, [feature], QUESTION), feature),
    now: () => Date.now(),
    orphans: (config) =>
      findOrphans({
        allowed: allowedBy(config),
        stateDirectory: stateDirectoryOf(config.listen),
        host: processes(),
      }),
    systemChecks: [],
    logLocation: 'its standard error',
  };
}

async function statusOf(server: string): ReturnType<DoctorHost['daemonStatus']> {
  const { read } = featureServiceDefinition;
  const answer = await callRunningDaemon({ server }, read, { facts: [] }, QUESTION);
  const { configFile, pid, startedAt, conditions } = answer;
  return {
    configFile,
    pid,
    startedAtMs: Date.parse(startedAt),
    conditions: conditions.map(
      ({ check, code, level, found, advice, since, causes, isSummary }) => ({
        check,
        found,
        since,
        causes,
        isSummary,
        level: levelOf(level),
        ...(code !== '' && { code }),
        ...(advice !== '' && { advice }),
      }),
    ),
  };
}

/** A level that this release does not know is worth a look. */
function levelOf(text: string): Level {
  return text === 'ok' || text === 'problem' ? text : 'warning';
}

async function livingRuns(
  server: string,
  host: ProcessHost,
  trust: FileTrust,
): Promise<readonly string[]> {
  const folders = new RunFolders(stateDirectoryOf(server));
  const isThere = await access(folders.folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return [];
  const distrust = trust.distrustOfPrivateFolder(folders.folder);
  if (distrust !== undefined)
    throw distrusted('read the records of runs in', folders.folder, distrust);
  const runs = await folders.living();
  return runs.filter(({ supervisor }) => host.isDaemonAlive(supervisor)).map(({ label }) => label);
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
