import type { ConfigProblem, WinsConfig } from '@wins/config';
import {
  findOrphans,
  type ProcessError,
  type RecoveredProcess,
  type StartVerdict,
} from '@wins/process-manager';
import { allowedBy, judgeStartHere } from '../../configuration/allowed-executables.js';
import { stateDirectoryOf } from '../../kept-directory.js';
import type { Check, DoctorHost } from '../../kernel/doctor-host.js';
import { cannotTell } from '../../client/cannot-tell.js';
import { ok, problem, warning, type Reported } from '../../kernel/conditions/condition.js';
import { ruleWords } from '../../kernel/audit/decision.js';

const ENTRY = 'white_list.processPaths[';
/** Faults that report a link in a path, on Linux or Windows. */
const LINKS: ReadonlySet<string> = new Set(['symbolic link', 'link or junction', 'another path']);

export interface RunQuestions {
  /** Judges a listed program as the daemon does before it runs the program. */
  judgeStart(path: string, config: WinsConfig): Promise<StartVerdict>;
  orphans(config: WinsConfig): Promise<readonly RecoveredProcess[]>;
}

export function runQuestions({ processes }: DoctorHost): RunQuestions {
  return {
    judgeStart: (path, config) => judgeStartHere({ path }, config, processes()),
    orphans: (config) =>
      findOrphans({
        allowed: allowedBy(config),
        stateDirectory: stateDirectoryOf(config.listen),
        host: processes(),
      }),
  };
}

export const checkWhiteList: Check<DoctorHost & RunQuestions> = {
  name: 'whitelist',
  needsConfig: true,
  reports: ({ code, keyPath }) => code === 'noWhiteList' || keyPath.startsWith(ENTRY),
  look: async (host, { config, warnings }) => {
    const name = 'whitelist';
    const { processPaths, proxyPorts, proxyUdpPorts } = config.whiteList;
    const findings: Reported[] = [];
    if (processPaths.length === 0)
      findings.push(
        warning(
          name,
          'whitelistEmpty',
          'no program may run',
          'list programs in white_list.processPaths',
        ),
      );
    const isFault = ({ code }: ConfigProblem): boolean => code === 'wrongValue';
    for (const [index, { path }] of processPaths.entries()) {
      const told = warnings.filter(({ keyPath }) => keyPath.startsWith(`${ENTRY}${index}]`));
      if (!told.some(isFault)) findings.push(await judgeProgram(path, host, config));
      for (const one of told)
        findings.push(
          (isFault(one) ? problem : warning)(name, 'entryDoubtful', one.message, one.nextStep),
        );
    }
    const ports = [...proxyPorts, ...proxyUdpPorts.map((port) => `${port} (UDP)`)];
    const told = ports.length === 0 ? 'none' : ports.join(', ');
    return [...findings, ok(name, `ports that containers may reach: ${told}`)];
  },
};

async function judgeProgram(
  path: string,
  host: RunQuestions,
  config: WinsConfig,
): Promise<Reported> {
  const { refusal } = await host.judgeStart(path, config);
  if (refusal === undefined) return ok('whitelist', `${path} may run`);
  if (refusal.code === 'notFound')
    return warning(
      'whitelist',
      'programMissing',
      `${path} does not exist`,
      'install it, or remove it from the list',
    );
  if (refusal.code === 'unknown') return cannotTell('whitelist', refusal);
  return problem('whitelist', 'programRefused', refusal.message, adviceFor(refusal));
}

function adviceFor({ code, rule }: ProcessError): string {
  if (code !== 'pathNotTrusted' || rule === undefined)
    return 'correct it: the daemon refuses the program until then';
  const fault = ruleWords(rule);
  if (LINKS.has(fault)) return 'list the target of the link: links are refused';
  if (fault === 'not a regular file') return 'list the path of a program';
  return 'make it and the folders above it writable by administrators only: the daemon refuses it';
}

export const checkOrphans: Check<DoctorHost & RunQuestions> = {
  name: 'orphans',
  look: async (host, { config }) => {
    const orphans = await host.orphans(config);
    if (orphans.length === 0) return [ok('orphans', 'no process of an earlier daemon is left')];
    return orphans.map(({ pid, name, path, evidence }) => {
      const what = path ?? name ?? 'a program';
      const found = `process ${pid} runs ${what} without a daemon (known by its ${evidence})`;
      return problem(
        'orphans',
        'processLeft',
        found,
        'start the daemon, which ends it, or kill it yourself',
      );
    });
  },
};
