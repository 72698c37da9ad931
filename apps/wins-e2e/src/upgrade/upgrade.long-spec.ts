import {
  expectGoneOnWith,
  expectGoodEnd,
  expectTakenBack,
} from '../testing/upgrade/upgrade-troubles.js';
import { expectUntouched } from '../testing/upgrade/untouched-service.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

// Tests that wait for a time-out use `it.concurrent`.
describe('wins up', () => {
  it.concurrent('mends a daemon that runs the same program and does not answer', async () => {
    await using world = await UpgradeWorld.running();
    await world.rest();
    process.kill(world.supervisor.pid ?? 0, 'SIGSTOP');
    expect((await world.up(['--path', world.release('v1.0.0'), '--wait', '10s'])).code).toBe(0);
    expect(world.supervisor.started).toHaveLength(2);
    expect(await world.rest()).toBe('v1.0.0');
  });
});

describe('an unhealthy release', () => {
  it.concurrent.each([
    ['hangs', 'no answer within'],
    ['lies about its version', 'found release \\\\?"v9.9.9'],
    ['does not serve', 'it does not serve'],
  ] as const)('is taken back when it %s', expectTakenBack);

  it.concurrent('is rolled back by a helper that is asked to end, and whose terminal goes away', async () => {
    await using world = await UpgradeWorld.running();
    const args = ['--path', world.release('v1.1.0', 'hangs'), '--wait', '3s', '--debug'];
    const helper = world.startUp(args);
    await helper.said('"step":"prove"');
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
      helper.child.kill(signal);
      await helper.said(`"signal":"${signal}"`);
    }
    expect((await helper.outcome).code).toBe(1);
    expect(await world.rest()).toBe('v1.0.0');
  });

  it.concurrent('is not even started when it cannot be run', async () => {
    for (const [misbehaviour, reason] of [
      ['crashes when asked for its version', 'does not report its release'],
      ['hangs when asked for its version', 'did not end within'],
      ['does not accept the config', 'out of order'],
    ] as const) {
      await using world = await UpgradeWorld.running();
      const args = ['--path', world.release('v1.1.0', misbehaviour), '--wait', '10s'];
      const { code, stderr } = await world.up(args);
      expect([misbehaviour, code, stderr]).toEqual([
        misbehaviour,
        misbehaviour.startsWith('hangs') ? 70 : 65,
        expect.stringContaining(reason),
      ]);
      expectUntouched(world);
    }
  });
});

it('a journal that cannot be read changes nothing about what is in place', async () => {
  const cut = '{"format":1,"phase":"trial"';
  await expectGoneOnWith(['garbage', '', cut, '{"format":2}', 'x'.repeat(2_000_000)]);
});

describe('locked files', () => {
  it.each([
    ['write journal.json', 'ENOSPC', 'the disk is full', 70],
    ['move new program', 'EROFS', 'the file system is read-only', 1],
    ['copy offered program', 'ENOSPC', 'the disk is full', 70],
    ['make folder', 'EROFS', 'the file system is read-only', 70],
    ['move staged program', 'EIO', 'EIO', 65],
    ['write service.json', 'ENOSPC', 'the disk is full', 1],
  ] as const)('end an upgrade in good order: %s with %s', expectGoodEnd);
});
