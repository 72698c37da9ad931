import { records, starts } from '../attacks/audit-records.js';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

it('records which ports a run exposes, and that nothing opens them on a system without such a firewall', async () => {
  using workspace = new Workspace();
  const tool = workspace.script('tool', 'echo out');
  await using daemon = await Daemon.start(workspace, workspace.config([tool]));
  await daemon.ready();
  const run = (...args: string[]) =>
    runWins(['cli', 'prc', 'run', '--path', tool, ...args], workspace.environment);
  const { code, stdout, stderr } = await run('--exposes', 'TCP:9796-9797 UDP:53');
  expect([code, stdout.toString(), stderr]).toEqual([0, 'out\n', '']);
  await run();
  const [first, second] = starts(await records(workspace), 'allowed');
  expect(first).toMatchObject({
    exposes: ['tcp 9796', 'tcp 9797', 'udp 53'],
    ports: 'asTheHostHasThem',
  });
  expect(second).not.toHaveProperty('ports');
});
