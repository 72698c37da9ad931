import type { Clock } from '@wins/time';
import { posixFileTrust } from '@wins/trusted-files';
import { serviceHost } from './service-host.js';
import type { KeptServiceKind, ServiceNode } from './service-node.js';

const HOUR_MS = 3_600_000;
const KIND: KeptServiceKind = {
  item: { kind: 'service', name: 'example' },
  subject: 'the example',
  pipe: 'example',
  programName: 'example',
  log: 'example.log',
  programOf: () => undefined,
  commandOf: (program) => program,
};

/** Each wait passes at once, and somebody sets the time of day meanwhile. */
function jumpingClock(jumpMs: number): Clock {
  let [dayMs, passedMs] = [Date.parse('2026-11-22T00:00:00Z'), 0];
  return {
    now: () => new Date(dayMs),
    monotonicMs: () => passedMs,
    wait: (ms) => {
      passedMs += ms;
      dayMs += ms + jumpMs;
      return Promise.resolve();
    },
  };
}

function prove(clock: Clock, isServing: () => boolean): Promise<void> {
  const stores = { running: { read: () => Promise.resolve('present' as const) } };
  const node = { stores, isServing: () => Promise.resolve(isServing()) };
  return serviceHost(node as unknown as ServiceNode, KIND, posixFileTrust(), clock).prove();
}

describe('the proof of a service', () => {
  it('gives the service 30 s although the time of day jumps forward', async () => {
    let looks = 0;
    await prove(jumpingClock(HOUR_MS), () => (looks += 1) > 100);
    expect(looks).toBe(101);
  });

  it('ends after 30 s although the time of day jumps back', async () => {
    let looks = 0;
    const proof = prove(jumpingClock(-HOUR_MS), () => (looks += 1) > 10_000);
    await expect(proof).rejects.toThrow('its pipe example did not appear within 30 s');
    expect(looks).toBe(121);
  });
});
