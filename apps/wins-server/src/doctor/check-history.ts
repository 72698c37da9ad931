import type { RingEvent } from '../kernel/events/ring-files.js';
import type { Check } from './doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from './finding.js';

const HOUR_MS = 3_600_000;
/** Maximum number of daemon starts in an hour; more are a problem. An upgrade causes one start, and so does a config change. */
const MOST_STARTS_AN_HOUR = 3;

export const checkHistory: Check = {
  name: 'history',
  look: async (host, { config }) => {
    const events = await host.recentEvents(config.listen);
    const started = startOf(events);
    if (started === undefined) return [];
    return [...judgeStarts(events, host), ...(await judgeDescriptors(started, host))];
  },
};

export function startOf(events: readonly RingEvent[]): RingEvent | undefined {
  return events.findLast(({ type }) => type === 'started');
}

function judgeStarts(
  events: readonly RingEvent[],
  host: { readonly now: () => number; readonly logLocation: string },
): readonly Finding[] {
  const findings: Finding[] = [];
  const crashes = events.filter(
    ({ type }, index) => type === 'started' && index > 0 && events[index - 1]?.type !== 'stopping',
  );
  const advice = `see its log (wins logs; ${host.logLocation})`;
  const last = crashes.at(-1);
  if (last !== undefined) {
    const found = `the daemon ended unexpectedly ${times(crashes.length)} within 24 h, last before its start at ${last.time}`;
    findings.push(warning('history', found, advice));
  }
  const since = host.now() - HOUR_MS;
  const starts = events.filter(({ type, time }) => type === 'started' && Date.parse(time) > since);
  if (starts.length > MOST_STARTS_AN_HOUR) {
    const found = `the daemon was started ${times(starts.length)} within an hour`;
    findings.push(problem('history', found, advice));
  }
  return findings.length > 0
    ? findings
    : [ok('history', 'the daemon has not ended unexpectedly within 24 h')];
}

async function judgeDescriptors(
  { pid }: RingEvent,
  host: { descriptors(pid: number): Promise<{ open: number; most: number } | undefined> },
): Promise<readonly Finding[]> {
  const name = 'descriptors';
  let counted;
  try {
    counted = await host.descriptors(Number(pid));
  } catch (error) {
    return [cannotTell(name, error)];
  }
  if (counted === undefined) return [];
  const { open, most } = counted;
  const found = `the daemon has ${open} of ${most} file descriptors open`;
  if (open < 0.8 * most) return [ok(name, found)];
  const advice =
    'raise its limit (LimitNOFILE, ulimit -n) and restart it: each connection needs one';
  return [(open < 0.95 * most ? warning : problem)(name, found, advice)];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
