import { formatDuration, messageOf } from '@wins/base';
import { DaemonCallError } from '../daemon-call-error.js';
import { judgePlans } from '../features/agent/check-agent.js';
import { agentSettings, isOff } from '../features/agent/agent-settings.js';
import { checkCsiProxy } from '../features/csi-proxy/check-csi-proxy.js';
import { checkDetachedRuns } from '../features/detached/check-detached-runs.js';
import { checkNetwork } from '../features/network/check-network.js';
import { judgeUpgrades } from '../features/upgrade/check-upgrade.js';
import { ruleWords } from '../kernel/audit/decision.js';
import type { RingEvent } from '../kernel/events/ring-files.js';
import { checkDisk } from './check-disk.js';
import { adviceForPipe } from './check-daemon.js';
import type { Check, DoctorHost } from './doctor-host.js';
import { checkConfig, runCheck } from './examine.js';
import { ok, problem, warning, type Finding } from './finding.js';

const SHOWN_RUNS = 5;
const SHOWN_REFUSALS = 3;

export async function statusOf(
  host: DoctorHost,
  ofDaemon: readonly Check[] = OF_DAEMON,
  ofHost: readonly Check[] = OF_HOST,
): Promise<readonly Finding[]> {
  const { loaded, isUsable } = await checkConfig(host);
  const serving = await serves(host, loaded.config.listen);
  const all = [...serving];
  const checks = serving.some(({ level }) => level === 'problem')
    ? [...host.systemChecks.filter(({ name }) => name === 'service'), ...ofHost]
    : [...ofDaemon, ...ofHost];
  for (const check of checks) {
    if (!isUsable && check.needsConfig === true) continue;
    const findings = await runCheck(check, host, loaded);
    all.push(...(findings.length > 0 ? findings : [ok(check.name, 'none')]));
  }
  return all;
}

export async function headlineOf(host: DoctorHost): Promise<string> {
  const told = await statusOf(host, [checkInForce, checkActivity], []);
  return told.map(({ found }) => found).join('; ');
}

async function serves(host: DoctorHost, listen: string): Promise<readonly Finding[]> {
  try {
    await host.reachPipe(listen);
    const { version } = await host.daemonInfo(listen);
    // Only administrators may make this call; for others the age stays unknown.
    const daemon = await host.daemonConfig(listen).catch(() => undefined);
    const age = daemon && ` for ${wholeSeconds(host.now() - daemon.startedAtMs)}`;
    return [ok('daemon', `serves ${version}${daemon ? `${age} (process ${daemon.pid})` : ''}`)];
  } catch (error) {
    const found = error instanceof DaemonCallError ? error.found : messageOf(error);
    return [problem('daemon', `does not serve: ${found}`, adviceForPipe(error))];
  }
}

const checkInForce: Check = {
  name: 'config in force',
  look: async (host, { config }) => {
    const { file } = await host.daemonConfig(config.listen);
    const events = await host.recentEvents(config.listen);
    const last = events.findLast(({ type }) => type === 'configReloaded' || type === 'started');
    const name = 'config in force';
    if (last === undefined) return [ok(name, `config ${file}, unchanged for a day`)];
    if (last['result'] !== 'rejected' && last['result'] !== 'lastGood')
      return [ok(name, `config ${file} of ${last.time}`)];
    const why = typeof last['why'] === 'string' ? ` (${last['why']})` : '';
    const found = `the previous config: ${file} was rejected at ${last.time}${why}`;
    return [warning(name, found, 'correct the file: wins srv config check')];
  },
};

const checkActivity: Check = {
  name: 'runs',
  look: async (host, { config }) => {
    const { runs, tunnels, streams } = await host.activity(config.listen);
    const names = runs.slice(0, SHOWN_RUNS).join(', ');
    const more = runs.length > SHOWN_RUNS ? ', …' : '';
    return [
      ok('runs', `${count(runs.length, 'run')}${runs.length === 0 ? '' : ` (${names}${more})`}`),
      ok('tunnels', `${count(tunnels, 'tunnel')} with ${count(streams, 'stream')}`),
    ];
  },
};

const checkPlans: Check = {
  name: 'plan',
  needsConfig: true,
  look: async (host, { config }) => {
    if (isOff(agentSettings(config))) return [];
    return (await judgePlans(config, host)).map((finding) => ({ ...finding, check: 'plan' }));
  },
};

const checkUpgrades: Check = { name: 'upgrade', look: judgeUpgrades };

const checkRefusals: Check = {
  name: 'refusals',
  look: async (host, { config }) => {
    const refused = (await host.recentEvents(config.listen)).filter(
      ({ type, verdict }) => type === 'decided' && verdict === 'refused',
    );
    const last = refused.slice(-SHOWN_REFUSALS).map(refusalText).join('; ');
    return [ok('refusals', `${refused.length} within 24 h${last === '' ? '' : `, last: ${last}`}`)];
  },
};

const OF_DAEMON = [
  checkInForce,
  checkActivity,
  checkDetachedRuns,
  checkPlans,
  checkCsiProxy,
  checkNetwork,
];
const OF_HOST = [checkUpgrades, checkRefusals, checkDisk];

function refusalText({ time, action, path, port, rule, code }: RingEvent): string {
  const what = path ?? port ?? '';
  return `${time} ${action}${what === '' ? '' : ` ${what}`}: ${ruleWords(String(rule ?? code ?? ''))}`;
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

function wholeSeconds(ms: number): string {
  return formatDuration(Math.max(0, Math.floor(ms / 1000) * 1000));
}
