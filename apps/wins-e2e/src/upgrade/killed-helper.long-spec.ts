import { processesWith, until } from '../testing/process-table.js';
import { cliUpgrade } from '../testing/upgrade/daemon-upgrades.js';
import { faultyHelper } from '../testing/upgrade/faulty-helper.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { GO_RELEASE, nodeWithGoDaemon } from '../testing/upgrade/node-with-go-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import type { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

const NEXT = singleFile('v1.1.0');

/** Signals the helper as soon as it runs outside its run. */
async function signalHelper(world: UpgradeWorld, signal: NodeJS.Signals): Promise<number> {
  const helpers = (): number[] => processesWith(`${world.folder}/helper-`, '--apart');
  await until(() => helpers().length > 0);
  const [pid = 0] = helpers();
  process.kill(pid, signal);
  return pid;
}

describe.each([
  ['a daemon', 'v1.0.0', () => nodeWithDaemon()],
  ['a Go daemon', GO_RELEASE, () => nodeWithGoDaemon('leaves')],
] as const)('wins cli upgrade, through %s that answers all the time', (_, release, node) => {
  it('ends when the helper was killed before it began', async () => {
    await using world = await node();
    const upgrading = cliUpgrade(world, NEXT);
    await signalHelper(world, 'SIGKILL');
    const { code, stderr } = await upgrading;
    expect([code, stderr]).toEqual([
      125,
      'wins: failed: the upgrade helper ended without a result, and no upgrade is pending. Upgrade again\n',
    ]);
    expect((await world.answer())?.version).toBe(release);
  });

  it('ends when the helper was killed midway, and names the phase and the next step', async () => {
    await using world = await node();
    const helper = faultyHelper(world, 'v1.1.0', { 'stop service': 'before' });
    const { code, stdout, stderr } = await cliUpgrade(world, helper, '-o', 'json');
    expect([code, stderr]).toEqual([
      125,
      expect.stringMatching(
        /^wins: failed: the upgrade helper was killed during an upgrade in phase stopping\. Restart the service or upgrade again: /,
      ),
    ]);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('phase stopping') as string,
    });
    expect((await world.answer())?.version).toBe(release);
    expect((await cliUpgrade(world, NEXT)).code).toBe(0);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('ends when the helper ends each time without a report', async () => {
    await using world = await node();
    const { code, stderr } = await cliUpgrade(world, '#!/bin/sh\nexit 3\n');
    expect([code, stderr]).toEqual([
      125,
      'wins: failed: the upgrade helper ends without a report. Run "wins up --show-result" on the host\n',
    ]);
    expect((await world.answer())?.version).toBe(release);
  });

  it('waits for a helper that is slow', async () => {
    await using world = await node();
    const upgrading = cliUpgrade(world, NEXT, '--wait-timeout', '5m');
    const pid = await signalHelper(world, 'SIGSTOP');
    let asked = 0;
    let isAsking = false;
    await until(() => {
      const asks = processesWith('--show-result').length > 0;
      if (asks && !isAsking) asked += 1;
      isAsking = asks;
      // The client has received two answers.
      return asked > 2;
    });
    process.kill(pid, 'SIGCONT');
    const { code, stdout, stderr } = await upgrading;
    expect([code, stdout.toString(), stderr]).toEqual([
      0,
      'wins: upgraded: the release v1.1.0 serves\n',
      '',
    ]);
    expect(await world.rest()).toBe('v1.1.0');
  });
});
