import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { Workspace } from '../testing/workspace.js';

/** Configs with which no daemon starts. */
const REFUSED: readonly [(workspace: Workspace) => object, string, RegExp][] = [
  [() => ({ pipeAccess: 'Everyone' }), 'pipeAccess', /"Everyone": its parts must be O:/],
  [() => ({ pipeAccess: '(A;;GA;;;BA)' }), 'pipeAccess', /its parts must be O:/],
  [() => ({ pipeAccess: 'D:P(A;;GA;;;XX)' }), 'pipeAccess', /"XX" is not an account/],
  [() => ({ pipeAccess: 'D:NO_ACCESS_CONTROL' }), 'pipeAccess', /everyone might open/],
  [() => ({ pipeAccess: 'D:P(A;;GR;;;SY)' }), 'pipeAccess', /does not let SYSTEM/],
  [() => ({ audit: { directory: 'logs' } }), 'audit.directory', /"logs", which is relative/],
  [() => ({ audit: { directory: '/etc/passwd' } }), 'audit.directory', /it is not a folder/],
  [
    ({ folder }) => ({ audit: { directory: `${folder}/open` } }),
    'audit.directory',
    /can write to it/,
  ],
  [() => ({ proxy: 'rancher_wins_admin' }), 'proxy', /the daemon's own pipe for administrators/],
  [() => ({ listen: 'same', proxy: 'same' }), 'proxy', /the pipe that "listen" names/],
  [() => ({ listen: 'a/b' }), 'listen', /"a\/b"/],
  [() => ({ listen: '/etc/passwd' }), 'listen', /not a socket/],
  [({ folder }) => ({ proxy: `${folder}/open/pipe` }), 'proxy', /can write to it/],
  [
    () => ({ upgrade: { mode: 'watching', watchingPath: 'new/wins' } }),
    'upgrade.watchingPath',
    /"new\/wins", which is relative/,
  ],
];

function makeWorkspace(): Workspace {
  const workspace = new Workspace();
  mkdirSync(workspace.path('open'));
  chmodSync(workspace.path('open'), 0o777);
  return workspace;
}

/** Returns the message about a key, without text that the command puts before it. */
function lineAbout(text: string, config: string, key: string): string | undefined {
  const from = text.indexOf(`${config}:`);
  const line = text.slice(from).split('\n')[0]?.replaceAll('\\"', '"');
  return from === -1 || line?.includes(` ${key}: found `) !== true ? undefined : line;
}

/** Other commands that check a config, with their exit codes. */
const JUDGES = [
  [78, 'srv', 'config', 'check', '--lenient'],
  [78, 'srv', 'app', 'run', '--register'],
  [78, 'srv', 'app', 'run'],
  [2, 'doctor'],
] as const;

// All commands share one check, so each config is tried with `config check` and only one of `JUDGES`.
it.each(
  REFUSED.map(([keysOf, key, words], index) => ({
    keysOf,
    key,
    words,
    judge: JUDGES[index % JUDGES.length] ?? JUDGES[0],
  })),
)('$key is refused alike by all that judge a config: $words', async (row) => {
  const { keysOf, key, words, judge } = row;
  using workspace = makeWorkspace();
  const config = workspace.config(['/bin/true'], keysOf(workspace));
  const ask = (...args: string[]) => runWins([...args, '--config', config], workspace.environment);
  const [expected, ...args] = judge;
  const [checked, judged] = await Promise.all([ask('srv', 'config', 'check'), ask(...args)]);
  const line = lineAbout(checked.stderr, config, key);
  expect({ code: checked.code, line }).toEqual({
    code: 78,
    line: expect.stringMatching(words) as string,
  });
  expect(line).toMatch(/:\d+:\d+: /);
  // The JSON log escapes some characters.
  const text = `${judged.stdout.toString()}${judged.stderr}`.replaceAll('\\', '');
  const [said] = (line ?? '').replaceAll('\\', '').split('; ');
  expect([args, judged.code, text]).toEqual([args, expected, expect.stringContaining(said ?? '')]);
});

it('the reload refuses each of them with these words, and the config in force stays', async () => {
  using workspace = makeWorkspace();
  const config = workspace.config(['/bin/true']);
  await using daemon = await Daemon.start(workspace, config);
  for (const [keysOf, key, words] of REFUSED) {
    workspace.config(['/bin/true'], keysOf(workspace));
    const { code, stderr } = await runWins(['srv', 'config', 'reload'], workspace.environment);
    expect([code, lineAbout(stderr, config, key)]).toEqual([78, expect.stringMatching(words)]);
  }
  expect(daemon.child.exitCode).toBeNull();
});

it('an upgrade over each of them is refused before anything is touched, and the daemon goes on serving', async () => {
  await using world = await nodeWithDaemon({}, () => ({
    pipeAccess: 'D:P(A;;GA;;;SY)(A;;GA;;;WD)',
  }));
  mkdirSync(world.workspace.path('open'));
  chmodSync(world.workspace.path('open'), 0o777);
  const { pid } = world.supervisor;
  const program = world.workspace.write('offered/wins', singleFile('v1.1.0'), 0o755);
  // Keep the whitelist, because an upgrade refuses a config that drops it.
  const { white_list } = JSON.parse(readFileSync(world.config, 'utf8')) as { white_list: object };
  const good = { white_list, listen: world.pipe, proxy: world.workspace.path('proxy') };
  for (const [keysOf, key, words] of REFUSED) {
    const keys = keysOf(world.workspace);
    // The service of this world needs its own pipes, so skip entries that set others.
    if ('listen' in keys || ('proxy' in keys && keys.proxy === 'rancher_wins_admin')) continue;
    writeFileSync(world.config, JSON.stringify({ ...good, ...keys }));
    const { code, stderr } = await world.up(['--path', program]);
    const said = lineAbout(stderr.replaceAll('\\\\"', '"'), world.config, key);
    expect([code, said]).toEqual([65, expect.stringMatching(words)]);
    expect(stderr).toContain('the service was not touched');
  }
  expect(world.supervisor.pid).toBe(pid);
  expect((await world.answer())?.version).toBe('v1.0.0');
}, 180_000);

it('access for everybody causes a warning wherever a config is checked', async () => {
  const keys = { pipeAccess: 'D:P(A;;GA;;;SY)(A;;GA;;;WD)' };
  const words = 'it lets everyone (S-1-1-0) control this host';
  await using world = await nodeWithDaemon({}, () => keys);
  const { workspace, config } = world;
  const ask = (...args: string[]) => runWins([...args, '--config', config], workspace.environment);
  const offered = workspace.write('offered.yaml', JSON.stringify(keys));
  const content = ['--content-only', '--platform', 'windows', '--config', offered];
  const check = await runWins(['srv', 'config', 'check', ...content], workspace.environment);
  expect([check.code, check.stderr]).toEqual([0, expect.stringContaining(words)]);
  const examined = await ask('doctor');
  expect(examined.stdout.toString()).toMatch(/^warning +config .*it lets everyone/m);
  expect(world.supervisor.said).toMatch(/"level":"warn".*it lets everyone/);
  const program = workspace.write('offered/wins', singleFile('v1.1.0'), 0o755);
  const { code, stderr } = await world.up(['--path', program]);
  expect([code, stderr]).toEqual([0, expect.stringContaining(words)]);
  expect(world.result).toMatchObject({ configWarnings: expect.stringContaining(words) as string });
});
