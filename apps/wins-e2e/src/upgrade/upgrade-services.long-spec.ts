import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../testing/process-table.js';
import { fakeRelease } from '../testing/upgrade/fake-release.js';
import { saidBeside, sha256, UpgradeWorld } from '../testing/upgrade/upgrade-world.js';

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
    await until(() => world.supervisor.command[0] === world.target);
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
      format: 1,
      phase: 'committing',
      id: 'x',
      staged: `${world.folder}/wins-1.1.0`,
      from: sums('old'),
      to: { ...sums(inPlace), version: 'v1.1.0' },
      disturbed: true,
      oldCommand: command,
      newCommand: command,
      pipe: world.pipe,
      oldPipe: world.pipe,
    };
    mkdirSync(world.folder, { mode: 0o700 });
    writeFileSync(path.join(world.folder, 'journal.json'), JSON.stringify(journal));
    const { code, stderr } = await world.up(['--path', world.release('v1.2.0')]);
    expect([code, saidBeside(stderr)]).toEqual([0, '']);
    expect(await world.rest()).toBe('v1.2.0');
  });
});
