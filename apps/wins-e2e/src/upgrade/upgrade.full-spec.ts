import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fakeRelease } from '../testing/upgrade/fake-release.js';
import { expectTakenBack } from '../testing/upgrade/upgrade-troubles.js';
import { expectUntouched } from '../testing/upgrade/untouched-service.js';
import { saidBeside, sha256, UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

function windowsProgram(): Buffer {
  const header = Buffer.alloc(512);
  header.write('MZ');
  header.writeUInt32LE(0x80, 0x3c);
  header.write('PE\0\0', 0x80, 'latin1');
  header.writeUInt16LE(0x8664, 0x84);
  return header;
}

// Tests that wait for a time-out use `it.concurrent`.
describe('wins up', () => {
  it('replaces the program, and the service names it at the path that it had', async () => {
    await using world = await UpgradeWorld.running();
    const before = world.supervisor.command;
    const { code, stdout } = await world.up(['--path', world.release('v1.1.0'), '--json']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString())).toMatchObject({ outcome: 'upgraded' });
    expect(await world.rest()).toBe('v1.1.0');
    expect(world.installed).toBe(sha256(fakeRelease('v1.1.0')));
    expect(world.supervisor.command).toEqual(before);
    expect(world.result).toMatchObject({
      outcome: 'upgraded',
      from: { version: 'v1.0.0', sha256: sha256(fakeRelease('v1.0.0')) },
      to: { version: 'v1.1.0', sha256: sha256(fakeRelease('v1.1.0')) },
    });
    expect(world.leftovers).toEqual([]);
    const [record = '', ...more] = readdirSync(world.folder).sort();
    expect(more).toEqual(['result.json', 'upgrade.log']);
    expect(JSON.parse(readFileSync(path.join(world.folder, record), 'utf8'))).toMatchObject({
      outcome: 'upgraded',
      serviceArgs: { before: before.slice(1), after: before.slice(1) },
    });
    expect(readdirSync(path.dirname(world.target)).sort()).toEqual(['wins', 'wins.upgrade']);
  });
});

describe('an unhealthy release', () => {
  it('is taken back', () =>
    expectTakenBack('crashes', 'the service has ended|found release \\\\?"v1.0.0'));
});

describe('what is refused, or changes nothing', () => {
  let world: UpgradeWorld;
  beforeAll(async () => {
    world = await UpgradeWorld.running();
  });
  afterAll(() => world[Symbol.asyncDispose]());
  afterEach(() => {
    expectUntouched(world);
  });

  it('is to ask for a result, which is null in JSON if there was no upgrade', async () => {
    const told = await world.up(['--show-result']);
    expect([told.code, told.stdout.toString(), told.stderr]).toEqual([
      0,
      '',
      expect.stringMatching(
        /^wins: no upgrade of the service .* has ended here \(.*result\.json does not exist\)\n$/,
      ),
    ]);
    const programs = await world.up(['--show-result', '--json']);
    expect([programs.code, programs.stdout.toString(), programs.stderr]).toEqual([0, 'null\n', '']);
  });

  it('is the same program', async () => {
    const { code, stdout } = await world.up(['--path', world.release('v1.0.0')]);
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining('nothing')]);
  });

  it('is a dry run, which prints a plan', async () => {
    const { code, stdout } = await world.up(['--path', world.release('v1.1.0'), '--dry-run']);
    expect(code).toBe(0);
    const steps = [...stdout.toString().matchAll(/^\d+\. (\w+):/gm)].map(([, step]) => step);
    expect(steps.join(' ')).toBe('stage checkConfig stop lend start reclaim prove replace');
  });

  it.each<[string, () => string[], string]>([
    ['an older release', () => ['--path', world.release('v0.9.9')], 'is older than'],
    [
      'a program with another digest',
      () => ['--path', world.release('v1.1.0'), '--sha256', 'a'.repeat(64)],
      'SHA-256',
    ],
    [
      'a program for another system',
      () => ['--path', world.workspace.write('wins.exe', windowsProgram())],
      'made for another system',
    ],
    ['a folder', () => ['--path', world.workspace.folder], 'it is a folder'],
    [
      'arguments that register',
      () => ['--path', world.release('v1.1.0'), '--wins-args', 'srv app run --register'],
      'register',
    ],
    [
      'a config that is wrong',
      () => [
        '--path',
        world.release('v1.1.0'),
        '--wins-args',
        `--config ${world.workspace.write('bad', '{"listen": 5, ')}`,
      ],
      'is invalid',
    ],
  ])('is %s, and the service is not touched', async (_what, args, reason) => {
    const { code, stderr } = await world.up(args());
    expect([code, stderr]).toEqual([65, expect.stringContaining(reason)]);
  });

  it('is a file that is not there', async () => {
    const { code, stderr } = await world.up(['--path', world.workspace.path('nothing')]);
    expect([code, stderr]).toEqual([70, expect.stringContaining('there is no such file')]);
  });

  it('is a folder in which others could place a program', async () => {
    const folder = path.dirname(world.target);
    chmodSync(folder, 0o777);
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    chmodSync(folder, 0o755);
    expect([code, stderr]).toEqual([65, expect.stringContaining('others can write to it')]);
  });

  it('is a state folder that somebody else created', async () => {
    rmSync(world.folder, { recursive: true, force: true });
    mkdirSync(world.folder, { mode: 0o755 });
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    rmSync(world.folder, { recursive: true });
    expect([code, stderr]).toEqual([65, expect.stringContaining('group or others have access')]);
  });

  it.each([
    [['--sha256', 'xyz'], '64 hexadecimal digits'],
    [['--wait', 'soon'], 'wanted a duration'],
    [['--unknown'], 'unknown'],
    [['more', 'words'], 'unexpected argument "more"'],
  ])('is the command line %j', async (args, reason) => {
    const { code, stderr } = await world.up(args);
    expect([code, stderr]).toEqual([64, expect.stringContaining(reason)]);
  });
});

describe('what is refused on a node of its own', () => {
  it('is a folder below one in which others could swap folders', async () => {
    await using world = await UpgradeWorld.running('a/b/wins');
    chmodSync(world.workspace.path('a'), 0o777);
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect([code, stderr]).toEqual([
      65,
      expect.stringMatching(/ because of .*: group or others can write/) as unknown,
    ]);
    expectUntouched(world);
  });

  it.concurrent('is a second upgrade while one is under way', async () => {
    await using world = await UpgradeWorld.running();
    const first = world.startUp([
      '--path',
      world.release('v1.1.0', 'hangs'),
      '--debug',
      '--wait',
      '60s',
    ]);
    await first.said('"step":"prove"');
    const second = await world.up(['--path', world.release('v1.1.0')]);
    expect([second.code, second.stderr]).toEqual([
      75,
      expect.stringContaining('another upgrade of it is running'),
    ]);
    const apart = await world.up(['--apart', '--id', 'mine', '--wait', '100ms']);
    expect([apart.code, world.result]).toEqual([
      75,
      expect.objectContaining({ id: 'mine', outcome: 'refused' }),
    ]);
    // Kill the daemon so that the first upgrade fails at once; the service then starts the old release.
    process.kill(Number(world.supervisor.pid), 'SIGKILL');
    expect((await first.outcome).code).toBe(1);
    expect(await world.rest()).toBe('v1.0.0');
  });
});

describe('the arguments of the service', () => {
  it('are given without the pair of quotes that a Go client keeps', async () => {
    await using world = await UpgradeWorld.running();
    const config = world.workspace.write('new config', readFileSync(world.config));
    const words = `--config='${config}' --debug`;
    const { code, stderr } = await world.up([
      '--path',
      world.release('v1.1.0'),
      '--wins-args',
      words,
    ]);
    expect([code, saidBeside(stderr)]).toEqual([0, '']);
    const expected = ['srv', 'app', 'run', '--config', config, '--debug'];
    expect(world.supervisor.command.slice(1)).toEqual(expected);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('are changed for the program that is in place too', async () => {
    await using world = await UpgradeWorld.running();
    const args = ['--path', world.release('v1.0.0'), '--wins-args', '-debug'];
    expect((await world.up(args)).code).toBe(0);
    const expected = ['srv', 'app', 'run', '--config', world.config, '--debug'];
    expect(world.supervisor.command.slice(1)).toEqual(expected);
    expect(world.supervisor.started).toHaveLength(2);
    expect(await world.rest()).toBe('v1.0.0');
  });

  it('are the previous ones when the daemon cannot serve with the new ones', async () => {
    await using world = await UpgradeWorld.running();
    const before = world.supervisor.command;
    const listen = world.workspace.path('no', 'such', 'folder', 'pipe');
    const config = world.workspace.write('other', JSON.stringify({ listen }));
    const args = ['--path', world.release('v1.1.0'), '--wins-args', `--config=${config}`];
    expect((await world.up(args)).code).toBe(1);
    expect(world.supervisor.command).toEqual(before);
    expect(await world.rest()).toBe('v1.0.0');
  });
});

describe('a leftover with the name of the new program that cannot be removed', () => {
  const NEXT = fakeRelease('v1.1.0');
  /** Makes folders, because elsewhere than on Windows every file can be removed. */
  function takeNames({ folder }: UpgradeWorld, count: number): string[] {
    const stem = `wins-1.1.0-${sha256(NEXT).slice(0, 12)}`;
    const names = Array.from({ length: count }, (_, at) => stem + (at === 0 ? '' : `-${at + 1}`));
    mkdirSync(folder, { mode: 0o700 });
    for (const name of names) mkdirSync(path.join(folder, name));
    return names;
  }

  it('makes the new program take another name', async () => {
    await using world = await UpgradeWorld.running();
    const names = takeNames(world, 2);
    const { code } = await world.up(['--path', world.release('v1.1.0')]);
    expect(code).toBe(0);
    expect(world.leftovers.sort()).toEqual(names);
    expect(world.supervisor.started.at(-1)).toContain(`${names[0] ?? ''}-3 srv app run`);
    const log = readFileSync(`${world.folder}/upgrade.log`, 'utf8');
    expect(log.split('so the new program gets another name')).toHaveLength(3);
    expect((await world.answer())?.version).toBe('v1.1.0');
  });

  it('refuses the upgrade when it has every name', async () => {
    await using world = await UpgradeWorld.running();
    takeNames(world, 8);
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect([code, stderr]).toEqual([
      65,
      expect.stringMatching(/step stage failed: cannot move .*; the service was not touched\n$/),
    ]);
    expect((await world.answer())?.version).toBe('v1.0.0');
  });
});
