import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

interface Event {
  readonly seq: number;
  readonly type: string;
  readonly [fact: string]: unknown;
}

const CANARY = 'canary-7d1e';

describe('the events of a daemon', () => {
  let workspace: Workspace;
  let program: string;
  let config: string;
  beforeEach(() => {
    workspace = new Workspace();
    program = workspace.script('tool', 'echo "$1"; exit 3');
    config = workspace.config([{ path: program, envs: ['TOKEN'] }]);
  });
  afterEach(() => workspace[Symbol.dispose]());

  const wins = (...args: string[]) => runWins(args, workspace.environment);
  const run = (file: string) =>
    wins('cli', 'prc', 'run', '--path', file, '--envs', `TOKEN=${CANARY}`, '--', CANARY);
  async function events(...args: string[]): Promise<Event[]> {
    const { code, stdout } = await wins('srv', 'events', '--config', config, '-o', 'json', ...args);
    expect(code).toBe(0);
    const lines = String(stdout)
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Event);
  }

  it('are shown by the daemon, or from their files when it is down, across a restart and without input of programs', async () => {
    {
      await using _daemon = await Daemon.start(workspace, config);
      expect((await run(program)).code).toBe(3);
      expect((await run(workspace.script('other', ''))).code).toBe(126);
      expect(await events()).toMatchObject([
        { seq: 1, type: 'started' },
        { seq: 2, type: 'decided', action: 'start', verdict: 'allowed', path: program },
        { seq: 3, type: 'runStarted', path: program },
        { seq: 4, type: 'runEnded', path: program, reason: 'exited', code: 3 },
        { type: 'decided', verdict: 'refused', rule: 'A15 not listed' },
      ]);
    }
    const { code, stderr } = await wins('srv', 'events', '--config', config);
    expect([code, stderr]).toEqual([0, expect.stringContaining('showing the events on the disk')]);
    expect((await events()).at(-1)).toMatchObject({ seq: 6, type: 'stopping' });
    await using _next = await Daemon.start(workspace, config);
    expect((await events()).at(-1)).toMatchObject({ seq: 7, type: 'started' });
    expect(await events('--since', '1h')).toHaveLength(7);
    expect(await events('--since', '2036-01-01')).toHaveLength(0);
    const folder = `${workspace.runtimeDirectory}/rancher_wins.events`;
    const files = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
    expect(files.join('')).toContain('runEnded');
    expect(files.join('')).not.toContain(CANARY);
  });

  it('are followed as they happen: a config that is put in force, and one that is rejected', async () => {
    await using daemon = await Daemon.start(workspace, config);
    const follower = startWins(['srv', 'events', '--config', config, '-f'], workspace.environment);
    await follower.printed('started');
    workspace.config([program, workspace.path('more')]);
    await follower.printed('result=applied changed=white_list.processPaths');
    writeFileSync(config, 'nonsense: [');
    await follower.printed('result=rejected');
    await daemon.stop();
    expect((await follower.outcome).code).toBe(69);
  });

  it('do not prevent a daemon from serving when they cannot be stored', async () => {
    const folder = `${workspace.runtimeDirectory}/rancher_wins.events`;
    {
      await using _first = await Daemon.start(workspace, config);
      await events();
    }
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder was');
    await using daemon = await Daemon.start(workspace, config);
    await daemon.logged(({ msg }) => msg === 'events cannot be kept now; the daemon continues');
    expect((await run(program)).code).toBe(3);
    rmSync(folder);
    expect((await events()).map(({ type }) => type)).toContain('runEnded');
  });

  it('do not hold up the start of a daemon whose disk does not answer', async () => {
    await using first = await Daemon.start(workspace, config);
    await first.stop();
    const folder = `${workspace.runtimeDirectory}/rancher_wins.events`;
    const [name = ''] = readdirSync(folder);
    const [file, silent] = [`${folder}/${name}`, `${folder}/silent`];
    rmSync(file);
    // Opening a FIFO blocks, like a disk that does not answer.
    execFileSync('/usr/bin/mkfifo', [file]);
    await using _daemon = await Daemon.start(workspace, config);
    renameSync(file, silent);
    closeSync(openSync(silent, 'r+'));
    expect((await events()).map(({ type }) => type)).toContain('started');
  });

  it('are chosen by number, period, type, name, client and verdict, and records of the audit log in the same way', async () => {
    const other = workspace.script('other', 'exit 0');
    const allowed = [program, other].map((path) => ({ path, envs: ['TOKEN'] }));
    workspace.config(allowed, { audit: { directory: workspace.path('audit') } });
    await using _daemon = await Daemon.start(workspace, config);
    for (const file of [program, other, workspace.script('refused', '')]) await run(file);
    const all = await events();
    const types = (found: readonly Event[]) => found.map(({ type }) => type);
    expect(await events('-n', '2')).toEqual(all.slice(-2));
    expect(await events('-n', '0')).toEqual([]);
    expect(types(await events('--type', 'runEnded', '--type', 'started'))).toEqual([
      'started',
      'runEnded',
      'runEnded',
    ]);
    expect(await events('--refused')).toEqual(all.filter(({ verdict }) => verdict === 'refused'));
    const ofOther = await events('--name', 'rancher-wins-other');
    expect(types(ofOther)).toEqual(['decided', 'runStarted', 'runEnded']);
    const refused = all.find(({ verdict }) => verdict === 'refused');
    const requester = String(refused?.['requester']);
    expect(await events('--client', requester)).toEqual([refused]);
    expect(await events('--client', 'nobody')).toEqual([]);
    const [first, second] = all;
    const [from, to] = [String(first?.['time']), String(second?.['time'])];
    expect(await events('--since', from, '--until', to)).toEqual(
      all.filter(({ time }) => String(time) >= from && String(time) < to),
    );
    const audit = async (...args: string[]) => {
      const words = ['srv', 'audit', 'show', '--config', config, '-o', 'json', ...args];
      const { code, stdout } = await wins(...words);
      expect(code).toBe(0);
      const lines = String(stdout).split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as { readonly [fact: string]: unknown });
    };
    const recorded = await audit();
    expect(await audit('-n', '1')).toEqual(recorded.slice(-1));
    expect(await audit('--refused')).toMatchObject([{ verdict: 'refused', requester }]);
    expect(await audit('--type', 'started')).toMatchObject([{ kind: 'started' }]);
    expect(await audit('--until', '2026-01-01')).toEqual([]);
  });

  it('are shown whole, filtered, or only the newest of them, when they fill many pages and files', async () => {
    const folder = `${workspace.runtimeDirectory}/rancher_wins.events`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const time = (seq: number) => new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();
    const kept = Array.from({ length: 10_000 }, (_, index) => {
      const verdict = index % 4 === 0 ? 'refused' : 'allowed';
      const path = `/opt/tools/${'tool'.repeat(40)}-${index % 7}`;
      return { seq: index + 1, time: time(index + 1), type: 'decided', verdict, path };
    });
    for (let from = 0; from < kept.length; from += 1000) {
      const name = `events.${String(from + 1).padStart(15, '0')}.jsonl`;
      const lines = kept.slice(from, from + 1000).map((event) => `${JSON.stringify(event)}\n`);
      writeFileSync(`${folder}/${name}`, lines.join(''), { mode: 0o600 });
    }
    for (const isServed of [false, true]) {
      await using _daemon = isServed ? await Daemon.start(workspace, config) : undefined;
      const own = (found: readonly Event[]) => found.filter(({ seq }) => seq <= kept.length);
      expect(own(await events())).toEqual(kept);
      const refused = kept.filter(({ verdict }) => verdict === 'refused');
      expect(await events('--refused')).toEqual(refused);
      expect(await events('--refused', '-n', '20')).toEqual(refused.slice(-20));
      expect(own(await events('--since', time(9990)))).toEqual(kept.slice(9989));
    }
  });

  it('are followed from the last few on, and only those that are chosen', async () => {
    await using _daemon = await Daemon.start(workspace, config);
    await run(program);
    const follow = ['srv', 'events', '--config', config, '-f'];
    const newer = startWins([...follow, '-n', '0'], workspace.environment);
    const ended = startWins([...follow, '-n', '1', '--type', 'runEnded'], workspace.environment);
    await ended.printed('runEnded');
    // A run that ends before the follower has read the present events is one of these.
    while (!newer.stdout().includes('runEnded')) await run(program);
    const last = (await events('-n', '1', '--type', 'runEnded'))[0];
    await ended.printed(`  ${last?.seq} `);
    expect(ended.stdout()).not.toContain('runStarted');
    expect(newer.stdout()).not.toContain(' started ');
    for (const { child } of [newer, ended]) child.kill();
    const { code, stderr } = await wins('srv', 'events', '-f', '--until', '1h');
    expect([code, stderr]).toEqual([64, expect.stringContaining('--follow and --until')]);
  });
});
