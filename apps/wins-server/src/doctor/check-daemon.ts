import { PipeError, type PipeErrorCode } from '@wins/pipe-transport';
import type { ApplicationInfo } from '@wins/wins-api';
import { adminPipeOf, commandWord, formatDuration, messageOf, SERVICE_NAME } from '@wins/base';
import type { FileFingerprint } from '@wins/trusted-files';
import path from 'node:path';
import { DaemonCallError } from '../client/daemon-call-error.js';
import { ok, problem, summary, warning, type Reported } from '../kernel/conditions/condition.js';
import {
  DAEMON_DOWN,
  type Check,
  type DaemonStatus,
  type DoctorHost,
} from '../kernel/doctor-host.js';
import { cannotTell } from '../client/cannot-tell.js';

const OLDEST_NODE = [20, 19] as const;

export const checkVersions: Check = {
  name: 'versions',
  look: (host) => {
    const { wins, node, system } = host.versions();
    const found = `wins ${wins.version} (${wins.commit}), Node ${node}, ${system}`;
    const [major = 0, minor = 0] = node.split('.').map(Number);
    const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
    const advice = `use Node ${OLDEST_NODE.join('.')} or later`;
    const seen = isOld ? problem('versions', 'nodeTooOld', found, advice) : ok('versions', found);
    return Promise.resolve([seen]);
  },
};

/** Looks at the pipes, and asks the daemon for its own conditions. */
export const checkDaemon: Check = {
  name: 'pipe',
  look: async (host, { config, path: configFile }) => {
    const { listen, proxy, pipeAccess } = config;
    const main = await lookAtPipe(listen, 'gRPC', host, pipeAccess);
    const tunnel = await lookAtPipe(proxy, 'the tunnel', host, pipeAccess);
    const admin = await lookAtAdminPipe(adminPipeOf(listen), host, main.isServed);
    const isDown = main.isAbsent;
    const daemon = main.isServed ? await askDaemon(listen, configFile, host) : [];
    return [
      ...main.findings.map((one) => (isDown ? daemonDown(one) : one)),
      // Reported only of a daemon that serves, which may use the name of an earlier config.
      ...tunnel.findings.map((one) =>
        tunnel.isAbsent ? { ...one, advice: PIPE_ADVICE.closed, causes: [DAEMON_DOWN] } : one,
      ),
      ...admin,
      ...daemon,
    ];
  },
};

function daemonDown(one: Reported): Reported {
  return { ...one, check: 'daemon', code: DAEMON_DOWN, found: `does not serve: ${one.found}` };
}

const START_DAEMON =
  process.platform === 'win32'
    ? `start the service: sc.exe start ${SERVICE_NAME}`
    : 'start the daemon: by its service, or wins srv app run';

const PIPE_ADVICE: Readonly<Record<PipeErrorCode, string>> = {
  aborted: 'try again',
  accessDenied: "run this as an administrator or as the daemon's user",
  busy: 'find out who opens so many connections: wins srv audit show',
  closed: 'restart the daemon, and see its log',
  invalidName: 'choose another name in the config ("listen", "proxy")',
  inUse: 'choose another name in the config: another program uses this one',
  notFound: START_DAEMON,
  securityUnavailable: 'find out which program serves the pipe: it is not the daemon',
  timeout: 'restart the daemon: it accepts no connections',
  unknown: "see the daemon's log, then restart it",
};

async function lookAtPipe(
  name: string,
  what: string,
  host: DoctorHost,
  pipeAccess: string | undefined,
): Promise<{
  readonly isServed: boolean;
  readonly isAbsent: boolean;
  readonly findings: readonly Reported[];
}> {
  try {
    await host.reachPipe(name);
  } catch (error) {
    const code = error instanceof PipeError ? error.code : 'unknown';
    const level = code === 'accessDenied' ? warning : problem;
    const findings = [level('pipe', 'pipeUnreachable', messageOf(error), PIPE_ADVICE[code])];
    return { isServed: false, isAbsent: code === 'notFound', findings };
  }
  const { found, faults } = await host.pipeAccess(name, pipeAccess);
  const described = `${name} accepts connections for ${what}: ${found}`;
  const served = { isServed: true, isAbsent: false };
  if (faults.length === 0) return { ...served, findings: [ok('pipe', described)] };
  const advice =
    'restart the daemon, and find out who changed it: a client of the pipe controls the host';
  const findings = faults.map((fault) =>
    problem('pipe', 'pipeAccessWrong', `${described}: ${fault}`, advice),
  );
  return { ...served, findings };
}

/** Checks the administrators' pipe, whose access list does not depend on the config. A daemon of an older release lacks this pipe. */
async function lookAtAdminPipe(name: string, host: DoctorHost, isMainServed: boolean) {
  const { isAbsent, findings } = await lookAtPipe(name, 'administrators', host, undefined);
  if (!isAbsent) return findings;
  // The finding about the main pipe suffices.
  if (!isMainServed) return [];
  const found = `the daemon has no pipe ${name}: its release is older, or it could not open the pipe`;
  const advice = `see its log (${host.logLocation}), or restart it with this release`;
  return [warning('pipe', 'adminPipeMissing', found, advice)];
}

async function askDaemon(pipe: string, configFile: string, host: DoctorHost) {
  let daemon: ApplicationInfo;
  try {
    daemon = await host.daemonInfo(pipe);
  } catch (error) {
    const advice = `see its log (${host.logLocation}), then restart it; or another program serves the pipe`;
    const found = error instanceof DaemonCallError ? error.found : messageOf(error);
    return [problem('daemon', 'daemonMute', `the daemon does not answer: ${found}`, advice)];
  }
  const { version } = daemon;
  let status: DaemonStatus;
  try {
    status = await host.daemonStatus(pipe);
  } catch (error) {
    return [
      summary('daemon', `serves ${version}`),
      await compareBuilds(daemon, '', host),
      cannotTell('daemon', error, 'its state'),
    ];
  }
  const { configFile: inForce, startedAtMs, pid, conditions, programFingerprint } = status;
  const age = formatDuration(Math.max(0, Math.floor((host.now() - startedAtMs) / 1000) * 1000));
  return [
    summary('daemon', `serves ${version} for ${age} (process ${pid})`),
    await compareBuilds(daemon, programFingerprint, host),
    ...compareConfigs(inForce, configFile),
    ...conditions,
  ];
}

function compareConfigs(inForce: string, configFile: string): readonly Reported[] {
  if (isSameFile(inForce, configFile)) return [];
  const found = `the daemon uses the config ${inForce}; this command checked ${configFile}`;
  return [warning('daemon', 'otherConfig', found, `wins doctor --config ${commandWord(inForce)}`)];
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [path.resolve(one), path.resolve(other)];
  return process.platform === 'win32' ? a.toLowerCase() === b.toLowerCase() : a === b;
}

/**
 * Compares the builds, because an upgrade replaces the file while the old daemon still runs. Hashes this program, of more than 100 MB, only if its file
 * is not the one that the daemon started from.
 */
async function compareBuilds(
  daemon: ApplicationInfo,
  startedFrom: FileFingerprint,
  host: DoctorHost,
): Promise<Reported> {
  const { wins } = host.versions();
  const shown = `the daemon is ${daemon.version} (${daemon.commit})`;
  if (daemon.version !== wins.version || daemon.commit !== wins.commit) {
    const found = `${shown}, this program is ${wins.version} (${wins.commit})`;
    const advice = 'restart the daemon, or use the program of its release';
    return warning('daemon', 'otherRelease', found, advice);
  }
  const own = host.programFingerprint();
  let isSame = own === startedFrom && own !== 'gone';
  try {
    isSame ||= (await host.programChecksum()) === daemon.checksum;
  } catch (error) {
    return cannotTell('daemon', error, 'whether it runs the file of this program');
  }
  if (!isSame) {
    const found = `${shown} like this program, but from a different file`;
    const advice = 'restart the daemon, or use the file that it runs';
    return warning('daemon', 'otherRelease', found, advice);
  }
  return ok('daemon', `${shown}, like this program`);
}
