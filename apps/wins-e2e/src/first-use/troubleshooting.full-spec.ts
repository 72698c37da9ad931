import { chmodSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { blocksOf, shownOutput } from '../testing/pages/page.js';
import { freePorts, Tunnel } from '../testing/tunnel/tunnel.js';
import { ROOT, Workspace } from '../testing/workspace.js';

/** The whitelist permits `closedPort`, but nothing listens on it. */
interface Host {
  readonly workspace: Workspace;
  readonly daemon: Daemon;
  readonly closedPort: number;
}

/** For each section of `docs/troubleshooting.md`, a function that causes the symptom and returns its message. */
const SYMPTOMS: Readonly<Record<string, (host: Host) => Promise<string>>> = {
  'The client finds no daemon': ({ workspace }) =>
    saying(['cli', 'app', 'info'], { WINS_RUNTIME_DIR: workspace.path('nowhere') }, 125),
  'The daemon refuses: not listed': (host) => refusal(host, '/bin/ls'),
  'The daemon refuses: wrong digest': (host) => refusal(host, 'pinned'),
  'The daemon refuses: no program': (host) => refusal(host, 'garbage'),
  'The daemon refuses: others can write': (host) => refusal(host, 'open/tool'),
  'The program is not in the container': ({ workspace }) =>
    saying(['cli', 'prc', 'run', '--path', workspace.path('absent')], workspace.environment, 127),
  'The daemon refuses a variable, a folder or an argument': async (host) =>
    (await refusal(host, 'tool', '--envs', 'A=b')) +
    (await refusal(host, 'tool', '--dir', '/')) +
    (await refusal(host, 'strict', '--args', 'anything')),
  'The daemon refuses an administrator': async ({ workspace }) => {
    // The client refuses this folder: an account that may replace the socket could pose as the daemon.
    chmodSync(workspace.runtimeDirectory, 0o777);
    const words = ['srv', 'config', 'reload', '--config', workspace.path('config')];
    const said = await saying(words, workspace.environment, 77);
    chmodSync(workspace.runtimeDirectory, 0o700);
    return said;
  },
  'The daemon refuses the caller': (host) => refusal(host, 'theirs'),
  'The program runs already': async ({ workspace }) => {
    const words = ['cli', 'prc', 'run', '--path', workspace.path('stays')];
    const first = startWins(words, workspace.environment);
    await first.printed('up');
    const said = await saying(words, workspace.environment, 125);
    first.child.kill('SIGTERM');
    await first.outcome;
    return said;
  },
  'A port of the tunnel is refused': async ({ workspace }) => {
    const [port = 0] = await freePorts(1);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:22`);
    // It is said before the tunnel is ready.
    return tunnel.program.stderr().split('\n', 1)[0] ?? '';
  },
  'A port of the tunnel cannot be reached': ({ workspace, closedPort }) =>
    lineOfTunnel(workspace, closedPort),
  'The daemon does not start: another one serves': ({ workspace }) =>
    saying(['srv', 'app', 'run', '--config', workspace.path('config')], workspace.environment, 69),
  'The daemon does not start: wrong config': ({ workspace }) =>
    wrongConfig(workspace, String.raw`white_list: { processPaths: ["C:\etc\nginx.exe"] }`, 0o600),
  'The daemon does not start: others can write the config': ({ workspace }) =>
    wrongConfig(workspace, '{}', 0o666),
  'The run ended with the daemon': async ({ workspace, daemon }) => {
    const words = ['cli', 'prc', 'run', '--path', workspace.path('stays')];
    const run = startWins(words, workspace.environment);
    await run.printed('up');
    await daemon.stop();
    return (await run.outcome).stderr;
  },
  'The tunnel is lost': async ({ workspace, daemon, closedPort }) => {
    const [port = 0] = await freePorts(1);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${closedPort}`);
    await daemon.stop();
    await tunnel.program.said('the tunnel is lost');
    return tunnel.program.stderr().split('\n').at(-2) ?? '';
  },
};

async function saying(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  wanted: number,
): Promise<string> {
  const { code, stderr } = await runWins(words, { ...process.env, ...environment });
  expect([code, stderr]).toEqual([wanted, stderr]);
  return stderr;
}

function refusal({ workspace }: Host, program: string, ...words: string[]): Promise<string> {
  const path = program.startsWith('/') ? program : workspace.path(program);
  return saying(['cli', 'prc', 'run', '--path', path, ...words], workspace.environment, 126);
}

function wrongConfig(workspace: Workspace, text: string, mode: number): Promise<string> {
  const config = workspace.write('wrong', text, mode);
  return saying(['srv', 'app', 'run', '--config', config], workspace.environment, 78);
}

/** Connects to a host port through a tunnel; returns the message that the tunnel then prints. */
async function lineOfTunnel(workspace: Workspace, hostPort: number): Promise<string> {
  const [port = 0] = await freePorts(1);
  await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${hostPort}`);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await tunnel.program.said(`host port ${hostPort}`, 2);
  socket.destroy();
  return tunnel.program.stderr().split('\n').at(-2) ?? '';
}

describe('troubleshooting', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  let closedPort: number;
  beforeAll(async () => {
    workspace = new Workspace();
    const [tool, stays, pinned, strict, theirs, open] = [
      workspace.script('tool', 'echo up'),
      workspace.script('stays', 'echo up; exec sleep 1000'),
      workspace.script('pinned', ''),
      workspace.script('strict', ''),
      workspace.script('theirs', ''),
      workspace.script('open/tool', ''),
    ];
    const garbage = workspace.write('garbage', 'no program', 0o755);
    chmodSync(path.dirname(open), 0o777);
    [closedPort = 0] = await freePorts(1);
    const processPaths = [
      tool,
      stays,
      open,
      garbage,
      { path: pinned, sha256: '0'.repeat(64) },
      { path: strict, args: 'none' },
      { path: theirs, for: ['container:*'] },
    ];
    const config = workspace.config([], { white_list: { processPaths, proxyPorts: [closedPort] } });
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const page = readFileSync(path.join(ROOT, 'docs/troubleshooting.md'), 'utf8');
  const shown = page.split(/^## /m).flatMap((section) => {
    const messages = blocksOf(section).find(({ language }) => language === 'text');
    const title = section.split('\n', 1)[0] ?? '';
    return messages === undefined ? [] : [[title, messages.text] as const];
  });

  it('shows no message that these tests do not cause', () => {
    expect(shown.map(([title]) => title).sort()).toEqual(Object.keys(SYMPTOMS).sort());
  });

  // Keeps the order of `SYMPTOMS`, where those that stop the daemon come last.
  const order = (title: string) => Object.keys(SYMPTOMS).indexOf(title);
  it.each([...shown].sort(([a], [b]) => order(a) - order(b)))(
    'shows what is said: %s',
    async (title, messages) => {
      if (daemon.child.exitCode !== null)
        daemon = await Daemon.start(workspace, workspace.path('config'));
      const said = await SYMPTOMS[title]?.({ workspace, daemon, closedPort });
      expect(said).toMatch(shownOutput(messages));
    },
  );
});
