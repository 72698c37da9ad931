// Kills the helper of a Go daemon at three of its acts; upgrade-below-go.long-spec.ts tries a larger sample.
import { actsBelowGo, dieBelowGo } from '../testing/upgrade/crash-below-go.js';
import { GO_RELEASE } from '../testing/upgrade/node-with-go-daemon.js';

describe('a helper below a Go daemon', () => {
  it('leaves one release that serves, wherever it dies', async () => {
    const acts = await actsBelowGo();
    const at = (part: number): number => acts[Math.floor(acts.length * part)] ?? 0;
    expect(await dieBelowGo(at(0.1), 'leaves')).toBe(GO_RELEASE);
    expect([GO_RELEASE, 'v1.1.0']).toContain(await dieBelowGo(at(0.6), 'kills'));
    expect(await dieBelowGo(acts.length, 'leaves')).toBe('v1.1.0');
  });
});
