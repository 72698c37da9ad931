import { quoteText } from '@wins/base';
import type { Abortable } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceControl } from '../service/service-control.js';
import { UpgradeError } from '../upgrade-error.js';
import type { ProgramIdentity } from '../journal/upgrade-journal.js';

/** Identity and health of the daemon that serves a pipe. */
export interface DaemonAnswer {
  readonly version: string;
  /** Hexadecimal. */
  readonly sha1: string;
  /** True when the daemon accepts new work; undefined when it has no health service. */
  readonly serving: boolean | undefined;
}

/** Uses a new connection each time. Undefined if no daemon answers within `timeoutMs`. @throws UpgradeError `aborted`. */
export type ProbeDaemon = (
  pipe: string,
  options: Abortable & { readonly timeoutMs: number },
) => Promise<DaemonAnswer | undefined>;

const POLL_MS = 50;
const LONGEST_PROBE_MS = 5000;

export interface HealthGate {
  readonly probe: ProbeDaemon;
  readonly service: ServiceControl | undefined;
  readonly pipe: string;
  readonly wanted: ProgramIdentity;
  readonly timeoutMs: number;
  /** False: accepts Go releases, whose daemons have no health service. */
  readonly healthRequired: boolean;
}

/** @throws UpgradeError `unhealthy` when the daemon ends, when another daemon answers, or after `timeoutMs`. */
export async function passHealthGate(gate: HealthGate): Promise<void> {
  const { probe, service, pipe, wanted } = gate;
  const end = performance.now() + gate.timeoutMs;
  let found = 'no answer';
  for (;;) {
    const leftMs = Math.max(1, Math.ceil(end - performance.now()));
    const answer = await probe(pipe, { timeoutMs: Math.min(leftMs, LONGEST_PROBE_MS) });
    if (answer !== undefined) {
      // If the wanted program is a wins release written in Go, its version may be unknown.
      // Then compare only the digest.
      const otherVersion = wanted.version !== undefined && answer.version !== wanted.version;
      if (otherVersion || answer.sha1 !== wanted.sha1)
        throw unhealthy(
          gate,
          `found release ${quoteText(answer.version)} with SHA-1 ${quoteText(answer.sha1)}`,
        );
      if (answer.serving === true) return;
      if (answer.serving === undefined && !gate.healthRequired) return;
      found = answer.serving === undefined ? 'it has no health service' : 'it does not serve';
    } else if (service !== undefined && (await service.query())?.state === 'stopped') {
      throw unhealthy(gate, 'the service has ended');
    }
    if (performance.now() >= end) throw unhealthy(gate, `${found} within ${gate.timeoutMs} ms`);
    await delay(POLL_MS);
  }
}

function unhealthy({ pipe, wanted }: HealthGate, found: string): UpgradeError {
  const expected = `release ${wanted.version ?? 'unknown'} with SHA-1 ${wanted.sha1}, serving`;
  const message = `the daemon on pipe ${pipe} failed its health check: ${found}; wanted ${expected}`;
  return new UpgradeError('unhealthy', message);
}
