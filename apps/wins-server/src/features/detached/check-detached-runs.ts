import { commandWord, type ProcessHost } from '@wins/base';
import { isKept, MAX_EXECUTABLE_BYTES, RunFolders } from '@wins/process-manager';
import { distrusted, hashFile, type FileTrust } from '@wins/trusted-files';
import { runsDefinition, type Run } from '@wins/wins-api/contract';
import { access } from 'node:fs/promises';
import { stateDirectoryOf } from '../../kept-directory.js';
import { isServed, type Check, type DoctorHost } from '../../kernel/doctor-host.js';
import { summary, warning } from '../../kernel/conditions/condition.js';
import { NAME } from './detached-conditions.js';
import { wantedPrograms } from './kept-programs.js';

const TOLD = 5;

export interface DetachedQuestions {
  /** Asks over the administrators' pipe. @throws DaemonCallError */
  detachedRuns(name: string): Promise<readonly Run[]>;
  /** Names of the detached runs that live without a daemon. */
  livingRuns(name: string): Promise<readonly string[]>;
  /** Returns the SHA-256 of a program. @throws TrustedFileError */
  digestOf(path: string): Promise<string>;
}

export function detachedQuestions(host: DoctorHost): DetachedQuestions {
  return {
    detachedRuns: async (name) => {
      const request = { all: true, measured: false, name: '' };
      const { runs } = await host.call(name, runsDefinition.list, request);
      return runs.filter(({ lifetime }) => lifetime === 'detached');
    },
    livingRuns: (name) => livingRuns(name, host.processes(), host.fileTrust()),
    digestOf: async (file) =>
      (await hashFile(file, ['sha256'], { maxBytes: MAX_EXECUTABLE_BYTES })).sha256,
  };
}

/** Warns of runs that could not be started again, before they end. The daemon itself reports those that it does not start again. */
export const checkDetachedRuns: Check<DoctorHost & DetachedQuestions> = {
  name: NAME,
  needsConfig: true,
  needsDaemon: true,
  look: async (host, { config }) => {
    const { keep, whiteList } = config;
    if (keep.length === 0 && !whiteList.processPaths.some(({ detached }) => detached?.allow))
      return [];
    const dialect = process.platform === 'win32' ? 'windows' : 'posix';
    const pins = new Map<string, readonly string[] | undefined>(
      wantedPrograms(config, dialect).map(({ label, grantedBy }) => [label, grantedBy.sha256]),
    );
    const digestOf = oncePerFile(host);
    const runs = await host.detachedRuns(config.listen);
    const findings = await Promise.all(
      runs.map(async ({ name, path, state, needsSha256: needs, refused }) => {
        // The daemon reports these.
        if (state === 'gaveUp' || state === 'stopped' || refused !== undefined) return [];
        const needed = pins.get(name) ?? (needs === undefined ? [] : [needs]);
        const found = needed.length === 0 ? undefined : await digestOf(path);
        return found === undefined || needed.includes(found) ? [] : [isReplaced(name, path)];
      }),
    );
    return findings.flat();
  },
};

/** Reports runs that live on without a daemon, which is no fault: the next daemon takes them over. */
export const checkLivingRuns: Check<DoctorHost & DetachedQuestions> = {
  name: NAME,
  look: async (host, { config }) => {
    if (await isServed(host, config.listen)) return [];
    const runs = await host.livingRuns(config.listen);
    if (runs.length === 0) return [];
    const found = `they live on without the daemon: ${runs.slice(0, TOLD).join(', ')}`;
    return [summary(NAME, runs.length > TOLD ? `${found}, …` : found)];
  },
};

/** Several runs may execute one large program. Resolves with undefined for a file that cannot be read. */
function oncePerFile(
  host: Pick<DetachedQuestions, 'digestOf'>,
): (path: string) => Promise<string | undefined> {
  const known = new Map<string, Promise<string | undefined>>();
  return (path) => {
    const digest = known.get(path) ?? host.digestOf(path).catch(() => undefined);
    known.set(path, digest);
    return digest;
  };
}

function isReplaced(name: string, path: string) {
  const found = `${name} could not be started again: ${path} has other bytes than its start needs`;
  const own = name.slice(name.indexOf('/') + 1);
  // Only its owner can replace a run under its name.
  const advice = isKept(name)
    ? 'put the digest of the file into sha256 of its entry, or restore the file'
    : `restore the file, or have its client replace the run: wins cli prc run --detach --replace --name ${own} --path ${commandWord(path)}`;
  return warning(NAME, 'programReplaced', found, advice, { subject: name });
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
