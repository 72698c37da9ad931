import { PipeError } from '@wins/pipe-transport';
import type { ApplicationInfo } from '@wins/wins-api';
import { messageOf } from '@wins/wins-program';
import type { Check, DoctorProbe } from './doctor-probe.js';
import { ok, problem, warning, type Finding } from './finding.js';

const CHECK = 'pipe';

/** Says of both pipes whether they are served, and to whom; and whether the daemon behind is of this build. */
export const checkPipes: Check = {
  name: CHECK,
  look: async ({ probe, config }) => {
    const main = await lookAt(config.listen, 'gRPC', probe, config.pipeAccess);
    const tunnel = await lookAt(config.proxy, 'the tunnel', probe, config.pipeAccess);
    const daemon = main.served ? await compare(config.listen, probe) : [];
    return [...main.findings, ...tunnel.findings, ...daemon];
  },
};

interface PipeFindings {
  readonly served: boolean;
  readonly findings: readonly Finding[];
}

async function lookAt(
  name: string,
  what: string,
  probe: DoctorProbe,
  wanted: string | undefined,
): Promise<PipeFindings> {
  try {
    await probe.reachPipe(name);
  } catch (error) {
    const denied = error instanceof PipeError && error.code === 'accessDenied';
    const finding = denied
      ? warning(CHECK, messageOf(error), "run this as an administrator or as the daemon's user")
      : problem(CHECK, messageOf(error), 'start the daemon: wins srv app run');
    return { served: false, findings: [finding] };
  }
  const { found, faults } = await probe.pipeAccess(name, wanted);
  const described = `${name} serves ${what}: ${found}`;
  return {
    served: true,
    findings:
      faults.length === 0
        ? [ok(CHECK, described)]
        : faults.map((fault) =>
            problem(
              CHECK,
              `${described}: ${fault}`,
              'restart the daemon, and look for who changed it: whoever opens the pipe commands the host',
            ),
          ),
  };
}

/** An upgrade replaces the file while the old daemon still runs. */
async function compare(name: string, probe: DoctorProbe): Promise<readonly Finding[]> {
  let daemon: ApplicationInfo;
  try {
    daemon = await probe.daemonInfo(name);
  } catch (error) {
    const advice = "look at the daemon's log, then restart it";
    return [problem('daemon', `the daemon does not answer: ${messageOf(error)}`, advice)];
  }
  const { wins } = await probe.versions();
  const shown = `the daemon is ${daemon.Version} (${daemon.Commit})`;
  if (daemon.Version !== wins.Version || daemon.Commit !== wins.Commit) {
    const found = `${shown}, this program is ${wins.Version} (${wins.Commit})`;
    return [warning('daemon', found, 'restart the daemon, or use the program of its release')];
  }
  if (daemon.Checksum !== wins.Checksum) {
    const found = `${shown} like this program, but its file differs`;
    return [warning('daemon', found, 'restart the daemon, or use the very program that it runs')];
  }
  return [ok('daemon', `${shown}, like this program`)];
}
