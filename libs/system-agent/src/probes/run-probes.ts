import { quoteText } from '@wins/wins-program';
import { setMaxListeners } from 'node:events';
import type { AgentEvent } from '../agent-event.js';
import type { Pass, ProbeStatus } from '../apply/pass.js';
import type { Warnings } from '../apply/warnings.js';
import type { HttpGet, Probe } from '../plan/plan.js';
import type { Clock } from '../ports.js';
import { httpProbe } from './http-probe.js';
import type { ProbeTls } from './probe-tls.js';

/** For a probe whose plan gives none: one that never answers must not hold up its pass. */
export const DEFAULT_PROBE_TIMEOUT_MS = 10_000;

const UNKNOWN: ProbeStatus = { healthy: false, successCount: 0, failureCount: 0 };

/** What probes need. */
export interface ProbeSteps {
  readonly pass: Pass;
  readonly clock: Clock;
  readonly onEvent: (event: AgentEvent) => void;
  readonly warnings: Warnings;
  readonly tls: ProbeTls;
  readonly signal: AbortSignal;
}

/**
 * Asks all probes of a plan at once, each after its delay where the pass applied, and counts. Statuses of names that the plan no longer
 * has stay.
 *
 * @throws the reason of the signal.
 */
export async function runProbes(steps: ProbeSteps): Promise<Readonly<Record<string, ProbeStatus>>> {
  const { pass, signal } = steps;
  signal.throwIfAborted();
  // Each probe listens: a signal of their own lets any number of them do so.
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const asked = Object.entries(pass.plan.probes).map(
      async ([name, probe]) =>
        [name, await statusOf(name, probe, { ...steps, signal: stop.signal })] as const,
    );
    const statuses = await Promise.all(asked);
    return Object.fromEntries([...Object.entries(pass.probes), ...statuses]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function statusOf(name: string, probe: Probe, steps: ProbeSteps): Promise<ProbeStatus> {
  const { pass, clock, onEvent, signal } = steps;
  if (pass.oneTime !== undefined && probe.initialDelaySeconds > 0) {
    await clock.wait(probe.initialDelaySeconds * 1000, signal);
  }
  const before = Object.hasOwn(pass.probes, name) ? (pass.probes[name] ?? UNKNOWN) : UNKNOWN;
  const isWell = await ask(name, probe, steps);
  signal.throwIfAborted();
  if (isWell === undefined) return before;
  const after = counted(before, isWell, probe);
  if (after.healthy !== before.healthy) {
    const { source, checksum } = pass;
    onEvent({ kind: 'probeChanged', source, checksum, probe: name, healthy: after.healthy });
  }
  return after;
}

function counted(before: ProbeStatus, isWell: boolean, probe: Probe): ProbeStatus {
  const threshold = isWell ? probe.successThreshold : probe.failureThreshold;
  const count = Math.min((isWell ? before.successCount : before.failureCount) + 1, threshold);
  return {
    healthy: count >= threshold ? isWell : before.healthy,
    successCount: isWell ? count : 0,
    failureCount: isWell ? 0 : count,
  };
}

/** Undefined where the address cannot be read: that says nothing of what it names. */
async function ask(name: string, probe: Probe, steps: ProbeSteps): Promise<boolean | undefined> {
  const { httpGet, timeoutSeconds } = probe;
  if (httpGet === undefined) return false;
  const url = URL.canParse(httpGet.url) ? new URL(httpGet.url) : undefined;
  const { warnings, pass } = steps;
  const topic = `address of probe ${name}`;
  if (url === undefined && /^https?:\/\//i.test(httpGet.url)) {
    const message = `cannot ask probe ${quoteText(name)}: found an address that cannot be read; wanted one such as http://127.0.0.1:8080/`;
    warnings.tell(pass.source, topic, message);
    return undefined;
  }
  warnings.clear(pass.source, topic);
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return false;
  const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : DEFAULT_PROBE_TIMEOUT_MS;
  return askInTime(name, { url, httpGet, timeoutMs }, steps);
}

interface Question {
  readonly url: URL;
  readonly httpGet: HttpGet;
  readonly timeoutMs: number;
}

async function askInTime(
  name: string,
  { url, httpGet, timeoutMs }: Question,
  { clock, tls, warnings, pass, signal }: ProbeSteps,
): Promise<boolean> {
  const { trust, faults } = await tls.trustFor(httpGet);
  const [fault] = faults;
  const topic = `certificates of probe ${name}`;
  if (fault === undefined) warnings.clear(pass.source, topic);
  else warnings.tell(pass.source, topic, fault.message, fault);
  const late = new AbortController();
  const over = new AbortController();
  const end = (): void => {
    over.abort();
    late.abort();
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const timeout = clock.wait(timeoutMs, over.signal).then(end, () => undefined);
  const isWell = await httpProbe({ url, trust, signal: late.signal });
  signal.removeEventListener('abort', end);
  over.abort();
  await timeout;
  return isWell;
}
