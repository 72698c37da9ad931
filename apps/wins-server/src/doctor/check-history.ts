import { ruleWords } from '../kernel/audit/decision.js';
import { ok, problem, summary, warning, type Reported } from '../kernel/conditions/condition.js';
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
    const started = events.findLast(({ type }) => type === 'started');
    if (started === undefined) return [];
    const isDead = !(await isServed(host, config.listen));
    return [
      ...judgeStarts(events, isDead, host),
      ...(isDead ? [] : await judgeDescriptors(started, host)),
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
  const crashes = events.filter(
    (event) => event.type === 'started' && !isStopped(eventsBefore(event, events)),
  );
  const advice = `see its log (wins logs; ${host.logLocation})`;
  const newest = events.at(-1);
  if (isDead && newest !== undefined && !isStopped(events)) {
    const found = `the daemon ended unexpectedly; its last event is of ${newest.time}`;
    findings.push(warning('history', 'daemonKilled', found, advice));
  }
  const last = crashes.at(-1);
  if (last !== undefined) {
    const found = `the daemon ended unexpectedly ${times(crashes.length)} within 24 h, last before its start at ${last.time}`;
    findings.push(warning('history', 'daemonRestarted', found, advice));
  }
  const since = host.now() - HOUR_MS;
  const starts = events.filter(({ type, time }) => type === 'started' && Date.parse(time) > since);
  if (starts.length > MOST_STARTS_AN_HOUR) {
    const found = `the daemon was started ${times(starts.length)} within an hour`;
    findings.push(problem('history', 'daemonCrashLoop', found, advice));
  }
  return findings.length > 0
    ? findings
    : [ok('history', 'the daemon has not ended unexpectedly within 24 h')];
}

async function judgeDescriptors(
  { pid }: RingEvent,
  host: Pick<DoctorHost, 'descriptors'>,
): Promise<readonly Reported[]> {
  const name = 'descriptors';
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

/** Whether the last daemon of these events was asked to stop. A stopping daemon still has events, such as the ends of its runs. */
function isStopped(events: readonly RingEvent[]): boolean {
  const last = events.findLast(({ type }) => type === 'stopping' || type === 'started');
  return events.length === 0 || last?.type === 'stopping';
}

/** Returns the events of daemons before the one that started: a starting daemon has events, too. */
function eventsBefore(started: RingEvent, events: readonly RingEvent[]): readonly RingEvent[] {
  const { ageMs = 0 } = started;
  const beganMs = Date.parse(started.time) - Number(ageMs);
  return events.filter(
    ({ seq, time, type }) =>
      seq < started.seq &&
      (type === 'started' || type === 'stopping' || Date.parse(time) < beganMs),
  );
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
