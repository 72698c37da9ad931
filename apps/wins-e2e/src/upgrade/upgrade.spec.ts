import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fakeRelease, type Misbehaviour } from '../testing/upgrade/fake-release.js';
import { expectGoneOnWith, expectGoodEnd } from '../testing/upgrade/upgrade-troubles.js';
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

// Tests that wait for a time-out run concurrently.
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

  it('upgrades a second time, and the installed program survives a restart', async () => {
    await using world = await UpgradeWorld.running();
    expect((await world.up(['--path', world.release('v1.1.0')])).code).toBe(0);
    expect((await world.up(['--path', world.release('v1.2.0')])).code).toBe(0);
    await world.supervisor.powerCycle();
    expect(await world.rest()).toBe('v1.2.0');
    expect(world.supervisor.started.at(-1)).toContain(`${world.target} srv`);
  });

  it('does nothing when the same program is in place', async () => {
    await using world = await UpgradeWorld.running();
    const { code, stdout } = await world.up(['--path', world.release('v1.0.0')]);
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining('nothing')]);
    expectUntouched(world);
  });

  it('prints a plan in a dry run and changes nothing', async () => {
    await using world = await UpgradeWorld.running();
    const { code, stdout } = await world.up(['--path', world.release('v1.1.0'), '--dry-run']);
    expect(code).toBe(0);
    const steps = [...stdout.toString().matchAll(/^\d+\. (\w+):/gm)].map(([, step]) => step);
    expect(steps.join(' ')).toBe('stage checkConfig stop lend start reclaim prove replace');
    expectUntouched(world);
  });

  it('installs an older release on request', async () => {
    await using world = await UpgradeWorld.running();
    const args = ['--path', world.release('v0.9.0'), '--allow-downgrade'];
    expect((await world.up(args)).code).toBe(0);
    expect(await world.rest()).toBe('v0.9.0');
  });
});

describe('an unhealthy release', () => {
  it.concurrent.each<[Misbehaviour, string]>([
    ['crashes', 'the service has ended|found release \\\\?"v1.0.0'],
    ['hangs', 'no answer within'],
    ['lies about its version', 'found release \\\\?"v9.9.9'],
    ['does not serve', 'it does not serve'],
  ])('is taken back when it %s', async (misbehaviour, reason) => {
    await using world = await UpgradeWorld.running();
    const args = ['--path', world.release('v1.1.0', misbehaviour), '--wait', '10s'];
    const { code, stderr } = await world.up(args);

    expect(stderr).toMatch(new RegExp(reason));
    expect(stderr).toContain('the previous release serves again');
    expect(code).toBe(1);
    expect(await world.rest()).toBe('v1.0.0');
    expect(world.installed).toBe(sha256(fakeRelease('v1.0.0')));
    expect(world.result.outcome).toBe('rolledBack');
  });

  it.concurrent(
    'is rolled back by a helper that is asked to end, and whose terminal goes away',
    async () => {
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
    },
  );
});

describe('what is refused', () => {
  it.each<[string, (world: UpgradeWorld) => string[], string]>([
    ['an older release', (world) => ['--path', world.release('v0.9.9')], 'is older than'],
    [
      'a program with another digest',
      (world) => ['--path', world.release('v1.1.0'), '--sha256', 'a'.repeat(64)],
      'SHA-256',
    ],
    [
      'a program for another system',
      (world) => ['--path', world.workspace.write('wins.exe', windowsProgram())],
      'made for another system',
    ],
    ['an empty file', (world) => ['--path', world.workspace.write('empty', '')], 'another system'],
    ['a folder', (world) => ['--path', world.workspace.folder], 'it is a folder'],
    [
      'arguments that register',
      (world) => ['--path', world.release('v1.1.0'), '--wins-args', 'srv app run --register'],
      'register',
    ],
    [
      'a config that is wrong',
      (world) => [
        ...['--path', world.release('v1.1.0'), '--wins-args'],
        `--config ${world.workspace.write('bad', '{"listen": 5, ')}`,
      ],
      'is invalid',
    ],
  ])('is %s, and the service is not touched', async (_what, args, reason) => {
    await using world = await UpgradeWorld.running();
    const { code, stderr } = await world.up(args(world));
    expect([code, stderr]).toEqual([65, expect.stringContaining(reason)]);
    expectUntouched(world);
  });

  it('is a file that is not there', async () => {
    await using world = await UpgradeWorld.running();
    const { code, stderr } = await world.up(['--path', world.workspace.path('nothing')]);
    expect([code, stderr]).toEqual([70, expect.stringContaining('there is no such file')]);
    expectUntouched(world);
  });

  it('is a folder in which others could place a program', async () => {
    await using world = await UpgradeWorld.running();
    chmodSync(path.dirname(world.target), 0o777);
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect([code, stderr]).toEqual([65, expect.stringContaining('others can write to it')]);
    expectUntouched(world);
  });

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

  it('is a state folder that somebody else created', async () => {
    await using world = await UpgradeWorld.running();
    mkdirSync(world.folder, { mode: 0o755 });
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect([code, stderr]).toEqual([65, expect.stringContaining('group or others have access')]);
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

  it.each([
    [['--sha256', 'xyz'], '64 hexadecimal digits'],
    [['--wait', 'soon'], 'wanted a duration'],
    [['--unknown'], 'unknown'],
    [['more', 'words'], 'unexpected argument "more"'],
  ])('is the command line %j', async (args, reason) => {
    await using world = await UpgradeWorld.empty();
    const { code, stderr } = await world.up(args);
    expect([code, stderr]).toEqual([64, expect.stringContaining(reason)]);
  });
});

describe('the arguments of the service', () => {
  it('are the given ones, plus those that it had', async () => {
    await using world = await UpgradeWorld.running();
    const args = ['--path', world.release('v1.1.0'), '--wins-args', '--debug'];
    expect((await world.up(args)).code).toBe(0);
    expect(world.supervisor.command.slice(1)).toEqual([
      'srv',
      'app',
      'run',
      '--config',
      world.config,
      '--debug',
    ]);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('are changed for the program that is in place too', async () => {
    await using world = await UpgradeWorld.running();
    const args = ['--path', world.release('v1.0.0'), '--wins-args', '-debug'];
    expect((await world.up(args)).code).toBe(0);
    expect(world.supervisor.command.at(-1)).toBe('--debug');
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

describe('the service', () => {
  it.each([
    ['quoted', 'bin/wins', (line: string) => line],
    ['quoted, with blanks and Unicode', "my bïn/wins' Straße/wins 1", (line: string) => line],
    ['not quoted', 'bin/wins', (line: string) => line.replaceAll('"', '')],
    [
      'not quoted, with blanks',
      'my bin/the wins',
      (line: string) => line.replace(/^"([^"]*)"/, '$1'),
    ],
  ])('may name its program %s', async (_how, name, write) => {
    await using world = await UpgradeWorld.empty(name);
    writeFileSync(world.target, fakeRelease('v1.0.0'), { mode: 0o755 });
    world.define(write(`"${world.target}" srv app run --config "${world.config}"`));
    world.supervisor.start();
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect([code, saidBeside(stderr)]).toEqual([0, '']);
    expect(await world.rest()).toBe('v1.1.0');
    expect(world.installed).toBe(sha256(fakeRelease('v1.1.0')));
  });

  it('is started when it was stopped', async () => {
    await using world = await UpgradeWorld.running();
    await world.supervisor.stop(1000);
    expect((await world.up(['--path', world.release('v1.1.0')])).code).toBe(0);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('is started when it was stopped and the program is the same', async () => {
    await using world = await UpgradeWorld.running();
    await world.supervisor.stop(1000);
    expect((await world.up(['--path', world.release('v1.0.0')])).code).toBe(0);
    expect(await world.rest()).toBe('v1.0.0');
  });

  it.each(['paused', 'pending'] as const)('is upgraded when it is %s', async (state) => {
    await using world = await UpgradeWorld.running();
    world.supervisor.pretend = state;
    expect((await world.up(['--path', world.release('v1.1.0')])).code).toBe(0);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('is not made up when there is none', async () => {
    await using world = await UpgradeWorld.empty();
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect([code, stderr]).toEqual([65, expect.stringContaining('there is no service')]);
    expect(world.leftovers).toEqual([]);
  });

  it('is registered when there is none and arguments are given', async () => {
    await using world = await UpgradeWorld.empty('wins');
    const args = ['--path', world.release('v1.1.0'), '--wins-args', `--config "${world.config}"`];
    const { code, stderr } = await world.up(args);
    expect([code, saidBeside(stderr)]).toEqual([0, '']);
    expect(world.supervisor.command).toEqual([
      world.target,
      'srv',
      'app',
      'run',
      '--config',
      world.config,
    ]);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('is removed again when the registered release is unhealthy', async () => {
    await using world = await UpgradeWorld.empty('wins');
    const release = world.release('v1.1.0', 'lies about its version');
    const args = ['--path', release, '--wins-args', `--config "${world.config}"`];
    const { code, stderr } = await world.up(args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is no service, as before')]);
    expect(() => world.supervisor.command).toThrow('ENOENT');
    expect(() => world.installed).toThrow('ENOENT');
    expect(world.leftovers).toEqual([]);
  });

  it('gets a new program when its own is missing', async () => {
    await using world = await UpgradeWorld.empty();
    world.define(`"${world.target}" srv app run --config "${world.config}"`);
    expect((await world.up(['--path', world.release('v1.1.0')])).code).toBe(0);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it('that refuses to start leaves an error that says so, and the next upgrade mends it', async () => {
    await using world = await UpgradeWorld.running();
    world.supervisor.refuseStart = true;
    const { code, stderr } = await world.up(['--path', world.release('v1.1.0')]);
    expect(code).toBe(70);
    expect(stderr).toContain('the service manager refuses to start it');
    expect(stderr).toContain(`now the service is stopped and names ${world.target}`);
    expect(world.result.outcome).toBe('failed');

    world.supervisor.refuseStart = false;
    expect((await world.up(['--path', world.release('v1.1.0')])).code).toBe(0);
    expect(await world.rest()).toBe('v1.1.0');
  });
});

describe('a journal that cannot be read', () => {
  it('changes nothing about what is in place', () => expectGoneOnWith('garbage'));

  it.each([
    ['with the old program in place', true, 'v1.0.0'],
    ['with no program in place', false, 'v1.1.0'],
  ])('leaves a service that runs, %s', async (_how, isInPlace, version) => {
    await using world = await UpgradeWorld.empty();
    if (isInPlace) writeFileSync(world.target, fakeRelease('v1.0.0'), { mode: 0o755 });
    mkdirSync(world.folder, { mode: 0o700 });
    const staged = path.join(world.folder, 'wins-1.1.0-0123456789ab');
    writeFileSync(staged, fakeRelease('v1.1.0'), { mode: 0o755 });
    world.define(`"${staged}" srv app run --config "${world.config}"`);
    expect((await world.up(['--path', world.release('v1.1.0'), '--dry-run'])).code).toBe(0);
    world.supervisor.start();
    await world.supervisor.powerCycle();
    while (world.supervisor.command[0] !== world.target) await new Promise(setImmediate);
    await world.supervisor.powerCycle();
    expect(await world.rest()).toBe(version);
  });
});

describe('an upgrade that was interrupted after its last step', () => {
  it('does not block the next release when its own is no longer healthy', async () => {
    await using world = await UpgradeWorld.empty();
    const inPlace = fakeRelease('v1.1.0', 'crashes');
    writeFileSync(world.target, inPlace, { mode: 0o755 });
    const args = ['srv', 'app', 'run', '--config', world.config];
    world.define(`"${world.target}" ${args.join(' ')}`);
    const command = { imagePath: world.target, args };
    const sums = (text: string) => ({
      sha256: sha256(text),
      sha1: createHash('sha1').update(text).digest('hex'),
    });
    const journal = {
      ...{ format: 1, phase: 'committing', id: 'x', staged: `${world.folder}/wins-1.1.0` },
      ...{ from: sums('old'), to: { ...sums(inPlace), version: 'v1.1.0' }, disturbed: true },
      ...{ oldCommand: command, newCommand: command, pipe: world.pipe, oldPipe: world.pipe },
    };
    mkdirSync(world.folder, { mode: 0o700 });
    writeFileSync(path.join(world.folder, 'journal.json'), JSON.stringify(journal));
    const { code, stderr } = await world.up(['--path', world.release('v1.2.0')]);
    expect([code, saidBeside(stderr)]).toEqual([0, '']);
    expect(await world.rest()).toBe('v1.2.0');
  });
});

describe('locked files', () => {
  it('are waited for while somebody else holds them', async () => {
    await using dry = await UpgradeWorld.running();
    await dry.up(['--path', dry.release('v1.1.0')]);
    const at = dry.effects.indexOf('move new program') + 1;

    await using world = await UpgradeWorld.running();
    const faults = { [at]: 'EBUSY', [at + 1]: 'EBUSY', [at + 2]: 'EBUSY' } as const;
    expect((await world.up(['--path', world.release('v1.1.0')], faults)).code).toBe(0);
    expect(world.effects.filter((effect) => effect === 'move new program')).toHaveLength(4);
    expect(await world.rest()).toBe('v1.1.0');
  });

  it.each([
    ['write journal.json', 'ENOSPC', 'the disk is full', 70],
    ['move new program', 'EROFS', 'the file system is read-only', 1],
  ] as const)('end an upgrade in good order: %s with %s', expectGoodEnd);
});
