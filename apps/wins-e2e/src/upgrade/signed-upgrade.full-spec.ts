import { createCertificateAuthority } from '@wins/base/testing';
import { X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { upgradeThroughDaemon } from '../testing/upgrade/daemon-upgrades.js';
import { nodeWithDaemon } from '../testing/upgrade/node-with-daemon.js';
import { singleFile } from '../testing/upgrade/single-file.js';
import { expectUntouched } from '../testing/upgrade/untouched-service.js';
import { UpgradeWorld } from '../testing/upgrade/upgrade-world.js';
import { begun, logged, offer, watchingNode } from '../testing/upgrade/watching-node.js';

const { cert } = createCertificateAuthority('releases');
const signedBy = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
const REFUSED = new RegExp(
  `the offered program is not trusted: it is not a PE file; only Windows programs are signed; wanted a signature by ${signedBy}`,
);

// Only Windows programs can be signed, so here a config with `signedBy` accepts no program.
describe('a node whose config lists signers of programs', () => {
  it('is left alone by wins up, which names the signature that is missing', async () => {
    await using world = await UpgradeWorld.running();
    writeFileSync(world.config, JSON.stringify({ listen: world.pipe, upgrade: { signedBy } }));
    for (const more of [[], ['--allow-downgrade', '--allow-drop', 'white_list']]) {
      const { code, stderr } = await world.up(['--path', world.release('v1.1.0'), ...more]);
      expect([code, stderr]).toEqual([65, expect.stringMatching(REFUSED)]);
      expect(world.result).toMatchObject({ outcome: 'refused' });
      expectUntouched(world);
    }
  });

  it('is left alone by an upgrade from a container, even if the file has lost the key that the daemon still uses', async () => {
    await using world = await nodeWithDaemon({}, () => ({ upgrade: { signedBy } }));
    const ask = () => upgradeThroughDaemon(world, singleFile('v1.1.0'));
    const first = await ask();
    expect([first.code, first.stdout.toString()]).toEqual([65, expect.stringMatching(REFUSED)]);
    const whole = JSON.parse(readFileSync(world.config, 'utf8')) as object;
    // The daemon refuses these configs and keeps the previous one.
    for (const config of [{ listen: world.pipe }, { ...whole, upgrade: {} }]) {
      writeFileSync(world.config, JSON.stringify(config));
      const again = await ask();
      expect([again.code, again.stdout.toString()]).toEqual([65, expect.stringMatching(REFUSED)]);
    }
    expect(world.supervisor.started).toHaveLength(1);
    expect(await world.rest()).toBe('v1.0.0');
  });

  it('does not even run a helper that becomes the daemon', async () => {
    const helper = (world: { path(name: string): string }) => ({
      white_list: { processPaths: [{ path: world.path('wins-upgrade'), mayBreakAway: true }] },
      upgrade: { signedBy },
    });
    await using world = await nodeWithDaemon({}, helper);
    const { code, stderr } = await upgradeThroughDaemon(world, singleFile('v1.1.0'));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(
      /cannot run "[^"]*wins-upgrade": it is not a PE file; .*; wanted a signature by/,
    );
    const words = ['srv', 'audit', 'show', '--config', world.config];
    const { stdout } = await runWins(words, world.workspace.environment);
    expect(stdout.toString()).toContain('notSigned');
  });

  it('is left alone by a watched file, once', async () => {
    const { world } = await watchingNode('none');
    await using _world = world;
    const config = {
      debug: true,
      listen: world.pipe,
      proxy: world.workspace.path('proxy'),
      upgrade: { mode: 'watching', watchingPath: world.workspace.path('offered/wins'), signedBy },
    };
    renameSync(world.workspace.write('next config', JSON.stringify(config)), world.config);
    offer(world, singleFile('v1.1.0'));
    const ended = await logged(world, 'the upgrade to the watched file has ended');
    expect([ended.ended, ended.reason]).toEqual(['refused', expect.stringMatching(REFUSED)]);
    expect(begun(world)).toHaveLength(1);
    expect(await world.rest()).toBe('v1.0.0');
  });
});
