import { ruleWords } from '../kernel/audit/decision.js';
import { ok, problem, summary, warning, type Reported } from '../kernel/conditions/condition.js';
import { daemonLives } from '../kernel/events/daemon-lives.js';
import type { RingEvent } from '../kernel/events/ring-files.js';
import { isServed, type Check, type DoctorHost } from '../kernel/doctor-host.js';
import { cannotTell } from '../client/cannot-tell.js';

const HOUR_MS = 3_600_000;
/** Maximum number of daemon starts in an hour; more are a problem. An upgrade causes one start, and so does a config change. */
const MOST_STARTS_AN_HOUR = 3;
const SHOWN_REFUSALS = 3;

export const checkHistory: Check = {
  name: 'history',
  look: async (host, { config }) => {
    const events = await host.recentEvents(config.listen);
    const isDead = !(await isServed(host, config.listen));
    return [
      ...judgeStarts(events, isDead, host),
      ...(isDead ? [] : await judgeDescriptors(events, config.listen, host)),
    ];
  },
};

export const checkRefusals: Check = {
  name: 'refusals',
  look: async (host, { config }) => {
    const refused = (await host.recentEvents(config.listen)).filter(
      ({ type, verdict }) => type === 'decided' && verdict === 'refused',
    );
    const last = refused.slice(-SHOWN_REFUSALS).map(refusalText).join('; ');
    const found = `${refused.length} within 24 h${last === '' ? '' : `, last: ${last}`}`;
    return [summary('refusals', found)];
  },
};

function refusalText({ time, action, path, port, rule, code }: RingEvent): string {
  const what = path ?? port ?? '';
  return `${time} ${action}${what === '' ? '' : ` ${what}`}: ${ruleWords(String(rule ?? code ?? ''))}`;
}

function judgeStarts(
  events: readonly RingEvent[],
  isDead: boolean,
  host: Pick<DoctorHost, 'now' | 'logLocation'>,
): readonly Reported[] {
  const findings: Reported[] = [];
  const lives = daemonLives(events, !isDead);
  const advice = `see its log (wins logs; ${host.logLocation})`;
  const newest = lives.at(-1);
  if (newest?.isFailure === true) {
    const found = `the daemon ended unexpectedly; its last event is of ${isoTime(newest.toMs)}`;
    findings.push(warning('history', 'daemonKilled', found, advice));
  }
  const afterCrashes = lives.slice(1).filter((_, index) => lives[index]?.isFailure);
  const last = afterCrashes.at(-1);
  if (last !== undefined) {
    const found = `the daemon ended unexpectedly ${times(afterCrashes.length)} within 24 h, last before its start at ${isoTime(last.fromMs)}`;
    findings.push(warning('history', 'daemonRestarted', found, advice));
  }
  const nowMs = host.now();
  // A clock that was set back leaves starts of the future.
  const starts = lives.filter(({ fromMs = 0 }) => fromMs > nowMs - HOUR_MS && fromMs <= nowMs);
  if (starts.length > MOST_STARTS_AN_HOUR) {
    const found = `the daemon was started ${times(starts.length)} within an hour`;
    findings.push(problem('history', 'daemonCrashLoop', found, advice));
  }
  return findings.length > 0
    ? findings
    : [ok('history', 'the daemon has not ended unexpectedly within 24 h')];
}

function isoTime(atMs = NaN): string {
  return Number.isNaN(atMs) ? 'an unknown time' : new Date(atMs).toISOString();
}

async function judgeDescriptors(
  events: readonly RingEvent[],
  listen: string,
  host: Pick<DoctorHost, 'daemonStatus' | 'descriptors'>,
): Promise<readonly Reported[]> {
  const name = 'descriptors';
  // A daemon whose descriptors are used up does not answer, but its start may be among the events.
  const started = events.findLast(({ type }) => type === 'started');
  const { pid } = started ?? (await host.daemonStatus(listen).catch(() => undefined)) ?? {};
  if (pid === undefined) return [];
  let counts;
  try {
    counts = await host.descriptors(Number(pid));
  } catch (error) {
    return [cannotTell(name, error)];
  }
  if (counts === undefined) return [];
  const { open, most } = counts;
  const found = `the daemon has ${open} of ${most} file descriptors open`;
  if (open < 0.8 * most) return [ok(name, found)];
  const advice =
    'raise its limit (LimitNOFILE, ulimit -n) and restart it: each connection needs one';
  return [(open < 0.95 * most ? warning : problem)(name, 'descriptorsUsedUp', found, advice)];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
