import type { ConfigProblem } from '@wins/config';
import { watchedPath } from '@wins/service-upgrade';
import type { Check, DoctorHost } from './doctor-host.js';
import { ok, problem, warning, type Finding } from './finding.js';

const MIB = 1024 * 1024;
const ENTRY = 'white_list.processPaths[';
/** The reasons of both systems for a link in a path. */
const LINKS: ReadonlySet<string> = new Set(['symbolic link', 'link or junction', 'another path']);

/** Whether every listed program can run, and whether someone else could have put it there. */
export const checkWhiteList: Check = {
  name: 'whitelist',
  needsConfig: true,
  look: async (host, { config, warnings }) => {
    const name = 'whitelist';
    const { processPaths, proxyPorts } = config.whiteList;
    const findings: Finding[] = [];
    if (processPaths.length === 0) {
      findings.push(warning(name, 'no program may run', 'list some in white_list.processPaths'));
    }
    const isFault = ({ code }: ConfigProblem): boolean => code === 'wrongValue';
    for (const [index, { path }] of processPaths.entries()) {
      const told = warnings.filter(({ keyPath }) => keyPath === `${ENTRY}${index}]`);
      if (!told.some(isFault)) findings.push(await judgeProgram(path, host));
      for (const one of told) {
        findings.push((isFault(one) ? problem : warning)(name, one.message, one.nextStep));
      }
    }
    const ports = proxyPorts.length === 0 ? 'none' : proxyPorts.join(', ');
    return [...findings, ok(name, `ports that containers may reach: ${ports}`)];
  },
};

/** Whether a warning of the config is about a program, so that the check of the whitelist tells it. */
export function isAboutEntry({ keyPath }: ConfigProblem): boolean {
  return keyPath.startsWith(ENTRY);
}

/** Whether the audit log can be written, by the daemon alone, and whether its newest file is unchanged. */
export const checkAudit: Check = {
  name: 'audit',
  look: async (host, { config }) => {
    const name = 'audit';
    const { path, place, faults, freeBytes } = await host.auditFolder(config);
    if (place.kind === 'missing') return [ok(name, `there is no audit log in ${path} yet`)];
    const findings = faults.map((fault) =>
      problem(name, `${path}: ${fault}`, 'fix it: the daemon refuses what it cannot record'),
    );
    if (place.kind === 'untrusted') {
      const advice =
        'make it and the folders above it writable by the daemon alone: others could change what is recorded';
      findings.push(problem(name, `${path}: ${place.fault}`, advice));
    }
    const { maxFileBytes } = config.audit;
    if (freeBytes !== undefined && freeBytes < maxFileBytes) {
      const found = `${path}: its disk has ${Math.floor(freeBytes / MIB)} MiB left`;
      const advice = `make room: a file of the log has up to ${Math.ceil(maxFileBytes / MIB)} MiB, and without a record nothing may start`;
      findings.push(warning(name, found, advice));
    }
    return [...findings, ...(await verifyAudit(path, host))];
  },
};

/** Whether an upgrade to the watched file would begin, and how the latest upgrade ended. */
export const checkWatchedFile: Check = {
  name: 'upgrade',
  needsConfig: true,
  look: async (host, { config: { upgrade } }) => {
    if (upgrade.mode !== 'watching') return [];
    return [
      await judgeWatched(upgrade.watchingPath, host),
      ...reportUpgrade(await host.latestUpgrade()),
    ];
  },
};

async function judgeProgram(path: string, host: DoctorHost): Promise<Finding> {
  const judgement = await host.judgeFile(path);
  if (judgement.kind === 'trusted') return ok('whitelist', `${path} may run`);
  if (judgement.kind === 'missing') {
    return warning('whitelist', `${path} does not exist`, 'install it, or take it off the list');
  }
  const { fault, message } = judgement;
  if (LINKS.has(fault)) {
    return problem('whitelist', message, 'list the path that the link leads to: links are refused');
  }
  if (fault === 'not a regular file') {
    return problem('whitelist', message, 'list the path of a program');
  }
  const advice =
    'make it and the folders above it writable by administrators alone: the daemon refuses it';
  return problem('whitelist', message, advice);
}

async function verifyAudit(path: string, host: DoctorHost): Promise<readonly Finding[]> {
  const { ok: isWhole, records, lost, problems, problemCount } = await host.verifyAudit(path);
  const findings: Finding[] = [];
  if (lost > 0) {
    const found = `the newest file of ${path} says that ${lost} records were lost`;
    findings.push(warning('audit', found, 'see when, and what else happened: wins srv audit show'));
  }
  if (isWhole) {
    const found = `${path}: ${records} records of the newest file are as they were written`;
    return [...findings, ok('audit', found)];
  }
  const [first] = problems;
  const more = problemCount > 1 ? ` (and ${problemCount - 1} more)` : '';
  const found = `the audit log is not as it was written: ${path}: ${first?.file}: ${first?.what}${more}`;
  const advice = 'find out who could write there: wins srv audit verify names every place';
  return [...findings, problem('audit', found, advice)];
}

async function judgeWatched(written: string, host: DoctorHost): Promise<Finding> {
  // A config with a path that is not absolute was refused.
  const path = watchedPath(written, process.platform) ?? written;
  const judgement = await host.judgeWatchedFile(path);
  if (judgement.kind === 'trusted') {
    return ok('upgrade', `${path} is watched: the daemon is upgraded to what is there`);
  }
  if (judgement.kind === 'missing') return ok('upgrade', `${path} is watched, and does not exist`);
  const advice =
    'make it, its folder and those above writable by administrators alone: the daemon does not take it';
  return problem('upgrade', judgement.message, advice);
}

function reportUpgrade(
  latest: Awaited<ReturnType<DoctorHost['latestUpgrade']>>,
): readonly Finding[] {
  if (latest === undefined) return [];
  const { outcome, reason, to } = latest;
  const target = to?.version === undefined ? '' : ` to ${to.version}`;
  const found = `the latest upgrade${target}: ${outcome}: ${reason}`;
  if (outcome === 'upgraded' || outcome === 'nothing') return [ok('upgrade', found)];
  const advice =
    outcome === 'failed'
      ? 'run wins up again: it first finishes or undoes the failed upgrade'
      : 'put another program there; only wins up --path tries the same one again';
  return [(outcome === 'failed' ? problem : warning)('upgrade', found, advice)];
}
