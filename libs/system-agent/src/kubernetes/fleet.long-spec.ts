import type { SimulatedFault } from '../testing/simulated-api.js';
import { SimulatedFleet } from '../testing/simulated-fleet.js';

const AGENTS = 1000;
const MINUTE_MS = 60_000;

describe('a fleet of 1,000 agents', () => {
  let fleet: SimulatedFleet;
  beforeEach(async () => {
    fleet = await SimulatedFleet.start(AGENTS);
  });
  afterEach(() => fleet.close());

  it('sends a watch for each agent every five to ten minutes when it is idle, and nothing else', async () => {
    const { busiestSecond } = await fleet.idle(20 * MINUTE_MS);
    const { requests } = fleet.api;
    expect(requests.every(({ verb }) => verb === 'watch')).toBe(true);
    expect(requests.length / AGENTS).toBeGreaterThan(2);
    expect(requests.length / AGENTS).toBeLessThan(4);
    expect(busiestSecond).toBeLessThan(0.02 * AGENTS);
  });

  it.each([
    ['restarts', 5_000],
    ['was away for ten minutes', 10 * MINUTE_MS],
  ])('comes back slowly to an API server that %s', async (_what, awayMs) => {
    const { busiestSecond, longestWaitMs } = await fleet.loseServer(awayMs);
    expect(busiestSecond).toBeLessThanOrEqual(0.05 * AGENTS);
    expect(longestWaitMs).toBeLessThan(MINUTE_MS);
  });

  it('has the plans of a restored cluster within a minute', async () => {
    const { busiestSecond } = await fleet.restoreBackup();
    expect(fleet.allKnow('first')).toBe(true);
    expect(busiestSecond).toBeLessThanOrEqual(0.05 * AGENTS);
  });

  it.each<[string, SimulatedFault]>([
    ['is refused by 403', { kind: 'refused', status: 403 }],
    ['is refused for 30 s by 429', { kind: 'refused', status: 429, retryAfterS: 30 }],
    ['is refused by 500', { kind: 'refused', status: 500 }],
    ['ends at once', { kind: 'endsAtOnce' }],
    ['is reset', { kind: 'reset' }],
    ['is cut after a second', { kind: 'cutAfter', ms: 1000 }],
  ])('does not flood a server on which each watch %s', async (_what, fault) => {
    const { busiestSecond, longestWaitMs } = await fleet.breakWatches(fault);
    expect(busiestSecond).toBeLessThanOrEqual(0.05 * AGENTS);
    expect(longestWaitMs).toBeLessThan(MINUTE_MS + 30_000);
  });
});
