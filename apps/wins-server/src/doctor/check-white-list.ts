import type { Check, DoctorProbe } from './doctor-probe.js';
import { ok, problem, warning, type Finding } from './finding.js';

const CHECK = 'whitelist';

/** Says of every listed program whether it can run, and whether somebody else could have put it there. */
export const checkWhiteList: Check = {
  name: CHECK,
  look: async ({ probe, config }) => {
    const { processPaths, proxyPorts } = config.whiteList;
    const faulty = new Map(
      probe.faultyEntries(config).map(({ index, message }) => [index, message]),
    );
    const findings: Finding[] = [];
    if (processPaths.length === 0) {
      findings.push(warning(CHECK, 'no program may run', 'list some in white_list.processPaths'));
    }
    for (const [index, { path }] of processPaths.entries()) {
      const fault = faulty.get(index);
      findings.push(
        fault === undefined
          ? await judge(path, probe)
          : problem(CHECK, fault, 'mend the entry: as it is it allows nothing'),
      );
    }
    for (const { message } of await probe.doubtfulEntries(config)) {
      findings.push(warning(CHECK, message, 'grant what its clients need, and no more'));
    }
    const ports = proxyPorts.length === 0 ? 'none' : proxyPorts.join(', ');
    findings.push(ok(CHECK, `ports that containers may reach: ${ports}`));
    return findings;
  },
};

async function judge(path: string, probe: DoctorProbe): Promise<Finding> {
  const judgement = await probe.judgeFile(path);
  switch (judgement.kind) {
    case 'trusted':
      return ok(CHECK, `${path} may run`);
    case 'missing':
      return warning(CHECK, `${path} does not exist`, 'install it, or take it off the list');
    case 'untrusted':
      return problem(
        CHECK,
        judgement.message,
        'make it and the folders above it writable by administrators alone: the daemon refuses it',
      );
  }
}
