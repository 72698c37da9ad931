import type { WinsConfig } from '@wins/config';
import { PipeError, type PipeErrorCode } from '@wins/pipe-transport';
import type { ApplicationInfo } from '@wins/wins-api';
import { messageOf, quoteText } from '@wins/wins-program';
import path from 'node:path';
import type { Check, DoctorHost } from './doctor-host.js';
import { ok, problem, warning, type Finding } from './finding.js';

/** The oldest Node that the sources are written for. */
const OLDEST_NODE = [20, 19] as const;

/** Which wins runs on which Node and system. */
export const checkVersions: Check = {
  name: 'versions',
  look: async (host) => {
    const { wins, node, system } = await host.versions();
    const found = `wins ${wins.Version} (${wins.Commit}), Node ${node}, ${system}`;
    const [major = 0, minor = 0] = node.split('.').map(Number);
    const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
    return [
      isOld
        ? problem('versions', found, `use Node ${OLDEST_NODE.join('.')} or later`)
        : ok('versions', found),
    ];
  },
};

/** Whether both pipes are served, who may open them, and whether the daemon is of this build and has this config. */
export const checkDaemon: Check = {
  name: 'pipe',
  look: async (host, { config, path: configFile }) => {
    const main = await lookAtPipe(config.listen, 'gRPC', host, config);
    const tunnel = await lookAtPipe(config.proxy, 'the tunnel', host, config);
    const daemon = main.isServed ? await askDaemon(config.listen, configFile, host) : [];
    return [...main.findings, ...tunnel.findings, ...daemon];
  },
};

/** Processes that a daemon started which is dead by now. */
export const checkOrphans: Check = {
  name: 'orphans',
  look: async (host, { config }) => {
    const orphans = await host.orphans(config);
    if (orphans.length === 0) return [ok('orphans', 'no process of a dead daemon runs')];
    return orphans.map(({ pid, name, path, evidence }) => {
      const what = path ?? name ?? 'a program';
      const found = `process ${pid} runs ${what} without a daemon (known by its ${evidence})`;
      return problem('orphans', found, 'start the daemon, which ends it, or end it yourself');
    });
  },
};

/** What to do about a pipe that cannot be reached, by the reason. */
const PIPE_ADVICE: Readonly<Record<PipeErrorCode, string>> = {
  accessDenied: "run this as an administrator or as the daemon's user",
  busy: 'find out who opens so many connections: wins srv audit show',
  closed: 'restart the daemon, and look at its log',
  invalidName: 'choose another name in the config ("listen", "proxy")',
  inUse: 'choose another name in the config: something else has this one',
  notFound: 'start the daemon: wins srv app run',
  securityUnavailable: 'find out who serves the pipe: it is not the daemon',
  timeout: 'restart the daemon: it takes no connections',
  unknown: "look at the daemon's log, then restart it",
};

async function lookAtPipe(
  name: string,
  what: string,
  host: DoctorHost,
  config: WinsConfig,
): Promise<{ readonly isServed: boolean; readonly findings: readonly Finding[] }> {
  try {
    await host.reachPipe(name);
  } catch (error) {
    const code = error instanceof PipeError ? error.code : 'unknown';
    const level = code === 'accessDenied' ? warning : problem;
    return { isServed: false, findings: [level('pipe', messageOf(error), PIPE_ADVICE[code])] };
  }
  const { found, faults } = await host.pipeAccess(name, config.pipeAccess);
  const described = `${name} accepts connections for ${what}: ${found}`;
  if (faults.length === 0) return { isServed: true, findings: [ok('pipe', described)] };
  const advice =
    'restart the daemon, and find out who changed it: a client of the pipe commands the host';
  const findings = faults.map((fault) => problem('pipe', `${described}: ${fault}`, advice));
  return { isServed: true, findings };
}

async function askDaemon(
  pipe: string,
  configFile: string,
  host: DoctorHost,
): Promise<readonly Finding[]> {
  let daemon: ApplicationInfo;
  try {
    daemon = await host.daemonInfo(pipe);
  } catch (error) {
    const advice = `look at its log (${host.logPlace}), then restart it; or another program serves the pipe`;
    return [problem('daemon', `the daemon does not answer: ${messageOf(error)}`, advice)];
  }
  return [await compareBuilds(daemon, host), ...(await compareConfigs(pipe, configFile, host))];
}

async function compareConfigs(
  pipe: string,
  configFile: string,
  host: DoctorHost,
): Promise<readonly Finding[]> {
  const inForce = await host.daemonConfig(pipe);
  if (inForce === undefined) return [];
  if (isSameFile(inForce, configFile)) return [ok('daemon', `its config is ${inForce}`)];
  const found = `the daemon has the config ${inForce}; this looked at ${configFile}`;
  return [warning('daemon', found, `wins doctor --config ${quoteText(inForce)}`)];
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [path.resolve(one), path.resolve(other)];
  return process.platform === 'win32' ? a.toLowerCase() === b.toLowerCase() : a === b;
}

/** An upgrade replaces the file while the old daemon still runs. */
async function compareBuilds(daemon: ApplicationInfo, host: DoctorHost): Promise<Finding> {
  const { wins } = await host.versions();
  const shown = `the daemon is ${daemon.Version} (${daemon.Commit})`;
  if (daemon.Version !== wins.Version || daemon.Commit !== wins.Commit) {
    const found = `${shown}, this program is ${wins.Version} (${wins.Commit})`;
    return warning('daemon', found, 'restart the daemon, or use the program of its release');
  }
  if (daemon.Checksum !== wins.Checksum) {
    const found = `${shown} like this program, but its file differs`;
    return warning('daemon', found, 'restart the daemon, or use the same file that it runs');
  }
  return ok('daemon', `${shown}, like this program`);
}
