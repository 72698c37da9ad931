import { copyFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { cliUpgrade, helperResult, runHelper } from '../testing/upgrade/daemon-upgrades.js';
import { GO_RELEASE, nodeWithGoDaemon } from '../testing/upgrade/node-with-go-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';

const NEXT = singleFile('v1.1.0');
const FAILURE =
  'could not kill process rancher-wins-wins-upgrad: could not remove firewall rules: exit status 1';

describe('wins cli upgrade, through a Go daemon whose clean-up fails', () => {
  it.each([
    ['with a reason', FAILURE],
    ['with a reason that HTTP/2 libraries drop, because it ends with a blank', `${FAILURE} `],
  ])('%s, waits for the result', async (_, cleanUpFailure) => {
    await using world = await nodeWithGoDaemon('leaves', { cleanUpFailure });
    const { code, stdout, stderr } = await cliUpgrade(world, NEXT);
    expect([code, stdout.toString(), stderr]).toEqual([
      0,
      'wins: upgraded: the release v1.1.0 serves\n',
      '',
    ]);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('reports at once that the helper refuses', async () => {
    await using world = await nodeWithGoDaemon('leaves', { cleanUpFailure: FAILURE });
    const { code, stderr } = await cliUpgrade(world, singleFile('v0.1.0'));
    expect([code, stderr]).toEqual([
      126,
      expect.stringMatching(/^wins: refused: the offered release v0\.1\.0 is older than/),
    ]);
    expect(await world.rest()).toBe(GO_RELEASE);
  });
});

it('wins cli prc run says that a Go daemon gave no reason for a failed clean-up', async () => {
  await using world = await nodeWithGoDaemon('leaves', { cleanUpFailure: `${FAILURE} ` });
  const { code, stdout, stderr } = await runHelper(world, NEXT, '--version');
  expect([code, stdout.toString(), stderr]).toEqual([
    0,
    'rancher-wins version v1.1.0\n',
    'wins: rancher-wins-wins-upgrad has ended, and the daemon failed to clean up after it: ' +
      'the call ended with gRPC status 13, and the daemon gave no reason; ' +
      'some of its firewall rules or child processes may be left on the host\n',
  ]);
});

it("the Go chart's call of the helper, which keeps the quotes, gives the service its config", async () => {
  await using world = await nodeWithGoDaemon('leaves');
  const { workspace, pipe } = world;
  const config = workspace.path('of-the-chart');
  copyFileSync(world.config, config);
  const helper = workspace.write('wins-upgrade', NEXT, 0o755);
  const args = `up --wins-args='--config=${config}'`;
  const words = ['cli', 'prc', 'run', '--server', pipe, `--path=${helper}`, `--args=${args}`];
  const { code, stdout, stderr } = await runWins(words, workspace.environment);
  expect([code, stdout.toString(), stderr]).toEqual([
    0,
    expect.stringMatching(/^wins: handedOver: /) as string,
    '',
  ]);
  expect(await helperResult(world)).toMatchObject({ outcome: 'upgraded' });
  expect(await world.rest()).toBe('v1.1.0');
  expect(world.supervisor.command.slice(1)).toEqual(['srv', 'app', 'run', '--config', config]);
});
