import type { Around } from '@wins/installation';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { DesiredCsiProxy } from './settings/judge-settings.js';
import { KeptNode } from './testing/kept-node.js';

describe('a daemon that dies', () => {
  /** Ends a daemon at its nth effect: that effect, and no later one, happens. Resolves with whether it came so far. */
  const dieAt = async (
    node: KeptNode,
    desired: DesiredCsiProxy | undefined,
    last: number,
  ): Promise<boolean> => {
    let effects = 0;
    let die: (end: boolean) => void = () => undefined;
    const death = new Promise<boolean>((resolve) => (die = resolve));
    const around: Around = async (_effect, action) => {
      effects += 1;
      if (effects > last) return new Promise<never>(() => undefined);
      const result = await action();
      if (effects < last) return result;
      die(true);
      return new Promise<never>(() => undefined);
    };
    const kept = node.keep(desired, { around });
    // A dead daemon is never closed.
    node.open.pop();
    const isDead = await Promise.race([death, kept.apply().then(() => false)]);
    if (!isDead) await kept.close();
    return isDead;
  };
  const IS_LONG = process.env['WINS_TEST_TIER'] === 'long';
  const STRIDE = IS_LONG ? 1 : 5;

  it('at any effect of an upgrade, or of its repair, leaves what the next daemons finish', async () => {
    let deaths = 0;
    for (let at = 1, isDead = true; isDead; at += STRIDE) {
      await using node = new KeptNode();
      await node.publish('v1.1.2', { stops: true });
      await node.publish('v1.1.3', { stops: true });
      const first = node.keep(node.desired('v1.1.2'));
      await first.apply();
      await first.close();
      isDead = await dieAt(node, node.desired('v1.1.3'), at);
      await dieAt(node, node.desired('v1.1.3'), 3);
      const next = node.keep(node.desired('v1.1.3'));
      expect([at, (await next.apply()).state]).toEqual([at, 'serving']);
      expect([at, await node.answer()]).toEqual([at, 'v1.1.3']);
      expect(readdirSync(path.join(node.home, 'install'))).toEqual(['install-manifest.json']);
      const releases = readdirSync(node.home).filter((name) => name.startsWith('v'));
      expect([at, releases]).toEqual([at, [expect.stringMatching(/^v1\.1\.3-/)]]);
      deaths += 1;
    }
    expect(deaths).toBeGreaterThan(IS_LONG ? 20 : 4);
  });

  it('at any effect of an installation or a removal leaves nothing that the removal does not find', async () => {
    for (let at = 1, isDead = true; isDead; at += STRIDE) {
      await using node = new KeptNode();
      await node.publish('v1.1.3', { stops: true });
      const wanted = await dieAt(node, node.desired('v1.1.3'), at);
      isDead = (await dieAt(node, undefined, at)) || wanted;
      const next = node.keep(undefined);
      expect([at, (await next.apply()).state]).toEqual([at, 'absent']);
      expect([at, await node.system.command(), existsSync(node.home)]).toEqual([at, [], false]);
    }
  });
});
