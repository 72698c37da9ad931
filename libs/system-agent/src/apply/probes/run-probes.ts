import { quoteText } from '@wins/base';
import { setMaxListeners } from 'node:events';
import type { AgentEvent } from '../../agent-event.js';
import type { Pass, ProbeStatus } from '../pass.js';
import type { Warnings } from '../warnings.js';
import type { Probe } from '../../plan/plan.js';
import type { Clock } from '../../ports.js';
import type { Prober } from './http-probe.js';

/** Keeps an unresponsive component from blocking the pass. */
export const DEFAULT_PROBE_TIMEOUT_MS = 10_000;

const UNKNOWN: ProbeStatus = { healthy: false, successCount: 0, failureCount: 0 };

export interface ProbeSteps {
  readonly pass: Pass;
  readonly clock: Clock;
  readonly onEvent: (event: AgentEvent) => void;
  readonly warnings: Warnings;
  readonly prober: Prober;
  readonly signal: AbortSignal;
}

/** Runs probes in parallel. Keeps statuses of names that are no longer in the plan. @throws the signal's reason. */
export async function runProbes(steps: ProbeSteps): Promise<Readonly<Record<string, ProbeStatus>>> {
  const { pass, signal } = steps;
  signal.throwIfAborted();
  // Every probe listens to this signal, so lift Node's limit on listeners.
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  await using deadlines = new Deadlines(steps.clock, stop.signal);
  try {
    const own = { ...steps, deadlines, signal: stop.signal };
    const asked = Object.entries(pass.plan.probes).map(
      async ([name, probe]) => [name, await statusOf(name, probe, own)] as const,
    );
    const statuses = await Promise.all(asked);
    return Object.fromEntries([...Object.entries(pass.probes), ...statuses]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Probes with equal `initialDelaySeconds` and `timeoutMs` share a timer. A timer per probe would make probes a tenth more expensive. */
class Deadlines implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #signals = new Map<string, AbortSignal>();
  readonly #waits: Promise<void>[] = [];

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Returns a signal that aborts after `timeoutMs`, or when the pass aborts. */
  after(timeoutMs: number, { initialDelaySeconds }: Probe): AbortSignal {
    const key = `${initialDelaySeconds} ${timeoutMs}`;
    const known = this.#signals.get(key);
    if (known !== undefined) return known;
    const late = new AbortController();
    setMaxListeners(0, late.signal);
    this.#signals.set(key, late.signal);
    const end = (): void => late.abort();
    if (this.#signal.aborted) end();
    this.#signal.addEventListener('abort', end, { signal: this.#over.signal });
    this.#waits.push(
      this.#clock.wait(timeoutMs, { signal: this.#over.signal }).then(end, () => undefined),
    );
    return late.signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#waits);
  }
}

type OwnSteps = ProbeSteps & { readonly deadlines: Deadlines };

async function statusOf(name: string, probe: Probe, steps: OwnSteps): Promise<ProbeStatus> {
  const { pass, clock, onEvent, signal } = steps;
  if (pass.oneTime !== undefined && probe.initialDelaySeconds > 0)
    await clock.wait(probe.initialDelaySeconds * 1000, { signal });
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

/** Returns undefined for an invalid HTTP URL, because it says nothing about the component. */
async function ask(name: string, probe: Probe, steps: OwnSteps): Promise<boolean | undefined> {
  const { httpGet, timeoutSeconds } = probe;
  if (httpGet === undefined) return false;
  const url = URL.canParse(httpGet.url) ? new URL(httpGet.url) : undefined;
  const { warnings, pass } = steps;
  const topic = `address of probe ${name}`;
  if (url === undefined && /^https?:\/\//i.test(httpGet.url)) {
    const message = `cannot run probe ${quoteText(name)}: its address is not a URL; wanted one such as http://127.0.0.1:8080/`;
    warnings.tell(pass.source, topic, message);
    return undefined;
  }
  warnings.tell(pass.source, topic, undefined);
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return false;
  const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1000 : DEFAULT_PROBE_TIMEOUT_MS;
  const late = steps.deadlines.after(timeoutMs, probe);
  const { isWell, fault } = await steps.prober.ask(url, httpGet, late);
  warnings.tell(pass.source, `certificates of probe ${name}`, fault?.message, fault);
  return isWell;
}
