import type { ConfigProblem, WinsConfig } from '@wins/config';
import type { Check, DoctorHost } from '../../doctor/doctor-host.js';
import { ok, problem, warning, type Finding } from '../../doctor/finding.js';

const ENTRY = 'white_list.processPaths[';
/** Faults that report a link in a path, on Linux or Windows. */
const LINKS: ReadonlySet<string> = new Set(['symbolic link', 'link or junction', 'another path']);

export const checkWhiteList: Check = {
  name: 'whitelist',
  needsConfig: true,
  look: async (host, { config, warnings }) => {
    const name = 'whitelist';
    const { processPaths, proxyPorts, proxyUdpPorts } = config.whiteList;
    const findings: Finding[] = [];
    if (processPaths.length === 0)
      findings.push(
        warning(name, 'no program may run', 'list programs in white_list.processPaths'),
      );
    const isFault = ({ code }: ConfigProblem): boolean => code === 'wrongValue';
    for (const [index, { path }] of processPaths.entries()) {
      const told = warnings.filter(({ keyPath }) => keyPath === `${ENTRY}${index}]`);
      if (!told.some(isFault)) findings.push(await judgeProgram(path, host, config));
      for (const one of told)
        findings.push((isFault(one) ? problem : warning)(name, one.message, one.nextStep));
    }
    const ports = [...proxyPorts, ...proxyUdpPorts.map((port) => `${port} (UDP)`)];
    const told = ports.length === 0 ? 'none' : ports.join(', ');
    return [...findings, ok(name, `ports that containers may reach: ${told}`)];
  },
};

export function isAboutEntry({ keyPath }: ConfigProblem): boolean {
  return keyPath.startsWith(ENTRY);
}

async function judgeProgram(path: string, host: DoctorHost, config: WinsConfig): Promise<Finding> {
  const judgement = await host.judgeFile(path);
  if (judgement.kind === 'trusted') {
    const { refusal } = await host.judgeStart(path, config);
    if (refusal === undefined) return ok('whitelist', `${path} may run`);
    return problem(
      'whitelist',
      refusal.message,
      'correct it: the daemon refuses the program until then',
    );
  }
  if (judgement.kind === 'missing')
    return warning('whitelist', `${path} does not exist`, 'install it, or remove it from the list');
  const { fault, message } = judgement;
  if (LINKS.has(fault))
    return problem('whitelist', message, 'list the target of the link: links are refused');
  if (fault === 'not a regular file')
    return problem('whitelist', message, 'list the path of a program');
  const advice =
    'make it and the folders above it writable by administrators only: the daemon refuses it';
  return problem('whitelist', message, advice);
}

export const checkOrphans: Check = {
  name: 'orphans',
  look: async (host, { config }) => {
    const orphans = await host.orphans(config);
    if (orphans.length === 0) return [ok('orphans', 'no process of an earlier daemon is left')];
    return orphans.map(({ pid, name, path, evidence }) => {
      const what = path ?? name ?? 'a program';
      const found = `process ${pid} runs ${what} without a daemon (known by its ${evidence})`;
      return problem('orphans', found, 'start the daemon, which ends it, or kill it yourself');
    });
  },
};
