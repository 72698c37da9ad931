import { startRancher, type RancherDouble } from '@wins/rancher-client/testing';
import { parseConfig, type LoadedConfig } from '@wins/config';
import { posixFileTrust } from '@wins/trusted-files';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Decision } from '../../kernel/audit/decision.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import type { Kernel } from '../../kernel/feature.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { csiProxySystem } from './csi-proxy-system.js';
import { csiProxy, type KeptSettings, type RunningCsiProxy } from './feature.js';
import { removeCsiProxy } from './remove-csi-proxy.js';
import { archiveOf } from './testing/archive-of.js';
import { LinuxCsiNode } from './testing/linux-csi-node.js';
import { stubProgram } from './testing/stub-program.js';

const { lacks: LACKS } = csiProxySystem;

type Switch = FeatureSwitch<KeptSettings, RunningCsiProxy>;

class World implements AsyncDisposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'csi-switch-'));
  readonly node = new LinuxCsiNode(path.join(this.folder, 'system'), 50);
  readonly decisions: Decision[] = [];
  readonly lines: string[] = [];
  starts = 0;
  readonly #open: Switch[] = [];

  private constructor(readonly server: RancherDouble) {
    writeFileSync(path.join(this.folder, 'ca.pem'), server.ca);
    csiProxySystem.lacks = undefined;
    csiProxySystem.node = () => {
      this.starts += 1;
      return this.node;
    };
  }

  static async start(): Promise<World> {
    return new World(await startRancher());
  }

  get section(): string {
    const url = `${this.server.url}/assets/%s.tar.gz`;
    const trust = `tls-config: {certFilePath: "${path.join(this.folder, 'ca.pem')}"}`;
    return `csi-proxy: {url: "${url}", version: v1.1.3, kubeletPath: /k}\n${trust}`;
  }

  switch(): Switch {
    const audit = {
      decided: (decision: Decision) => {
        this.decisions.push(decision);
        return Promise.resolve();
      },
    };
    const kernel = kernelOf({ audit, trust: posixFileTrust() }, this.lines);
    const made = new FeatureSwitch(csiProxy, kernel);
    this.#open.push(made);
    return made;
  }

  apply(one: Switch, text: string): void {
    one.apply(one.feature.settings(this.config(text)));
  }

  async publish(version: string): Promise<void> {
    const content = stubProgram({ mark: version });
    const archive = await archiveOf([{ name: 'csi-proxy.exe', content }]);
    this.server.assets.set(`${version}.tar.gz`, archive);
  }

  config(text: string): LoadedConfig {
    return { ...parseConfig(text), path: path.join(this.folder, 'config'), found: true };
  }

  async [Symbol.asyncDispose]() {
    for (const one of this.#open) await one.close();
    await this.node.process.stop(0);
    await this.server.close();
    csiProxySystem.lacks = LACKS;
    csiProxySystem.node = undefined;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function until(one: Switch, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isSo()) resolve();
    };
    one.onChange = look;
    look();
  });
}
const stateOf = (one: Switch) => one.running?.kept.status.state;
const isWell = (one: Switch) =>
  one.state.kind !== 'failed' &&
  !('isFault' in one.state && one.state.isFault) &&
  (one.feature.conditions?.(one, {} as Kernel) ?? []).every(({ level }) => level !== 'problem');

describe('the feature csi-proxy', () => {
  let world: World;
  beforeEach(async () => (world = await World.start()));
  afterEach(() => world[Symbol.asyncDispose]());

  it('loads nothing while no config has ever wanted it', async () => {
    const one = world.switch();
    world.apply(one, '');
    await until(one, () => one.state.kind === 'off');
    expect([isWell(one), one.reason]).toEqual([true, 'the config has no section csi-proxy']);
    await one.close();
    expect(world.starts).toBe(0);
  });

  it('keeps it with the section, follows the config, and takes away what is ours without it', async () => {
    await world.publish('v1.1.3');
    await world.publish('v1.2.0');
    const one = world.switch();
    world.apply(one, world.section);
    await until(one, () => stateOf(one) === 'serving');
    const first = world.node.process.pid;
    world.apply(one, `${world.section}\ndebug: true`);
    world.apply(one, world.section.replace('v1.1.3', 'v1.2.0'));
    await until(one, () => /v1\.2\.0 serves/.test(JSON.stringify(one.running?.kept.status)));
    await one.running?.kept.apply();
    expect(world.node.process.pid).not.toBe(first);
    expect(world.decisions.map(({ action }) => action)).toEqual([
      'csiProxyFetch',
      'csiProxySwitch',
      'csiProxyFetch',
      'csiProxySwitch',
      'csiProxyTidy',
    ]);
    world.apply(one, '');
    await until(one, () => !existsSync(path.join(world.folder, 'csi-proxy')));
    expect(await world.node.command()).toEqual([]);
    expect(world.starts).toBe(1);
    await one.close();
    expect(one.running).toBeUndefined();
  });

  it('takes away what an earlier daemon has installed', async () => {
    await world.publish('v1.1.3');
    const first = world.switch();
    world.apply(first, world.section);
    await until(first, () => stateOf(first) === 'serving');
    await first.close();
    expect(await world.node.isServing()).toBe(true);
    const next = world.switch();
    world.apply(next, '');
    await until(next, () => !existsSync(path.join(world.folder, 'csi-proxy')));
    expect(await world.node.command()).toEqual([]);
  });

  it('leaves all as it is when the section is wrong', async () => {
    await world.publish('v1.1.3');
    const one = world.switch();
    world.apply(one, world.section);
    await until(one, () => stateOf(one) === 'serving');
    const { pid } = world.node.process;
    world.apply(one, world.section.replace('%s', '%d'));
    await until(one, () => !isWell(one) && one.running === undefined);
    expect(one.reason).toMatch(/csi-proxy\.url: found "%d" at column/);
    expect(world.node.process.pid).toBe(pid);
  });

  it('is not well when it fails, and is well again afterwards', async () => {
    const one = world.switch();
    world.apply(one, world.section);
    await until(one, () => !isWell(one));
    expect(stateOf(one)).toBe('failed');
    await world.publish('v1.1.3');
    await one.running?.kept.apply();
    expect([isWell(one), stateOf(one)]).toEqual([true, 'serving']);
    expect(world.lines.join('')).toMatch(/"state":"failed".*downloadFailed/);
  });

  it('does not take the daemon with it when it cannot start', async () => {
    csiProxySystem.node = () => {
      throw new Error('the bundle is not there');
    };
    const one = world.switch();
    world.apply(one, world.section);
    await until(one, () => !isWell(one));
    expect(one.reason).toBe('it cannot start: the bundle is not there');
    await one.close();
  });

  it('is off where there are no such services, with a reason, and is well', async () => {
    csiProxySystem.lacks = LACKS;
    const one = world.switch();
    world.apply(one, world.section);
    expect([one.reason, isWell(one), world.starts]).toEqual([LACKS, true, 0]);
    await one.close();
  });
});

describe('an uninstallation', () => {
  let world: World;
  beforeEach(async () => (world = await World.start()));
  afterEach(() => world[Symbol.asyncDispose]());

  const config = () => path.join(world.folder, 'config');

  it('takes away the csi-proxy that a daemon has installed', async () => {
    await world.publish('v1.1.3');
    const one = world.switch();
    world.apply(one, world.section);
    await until(one, () => stateOf(one) === 'serving');
    await one.close();
    expect(await removeCsiProxy({ configFile: config(), isAdopted: false })).toBeUndefined();
    expect(await world.node.command()).toEqual([]);
    expect(existsSync(path.join(world.folder, 'csi-proxy'))).toBe(false);
  });

  it('takes away what the original has installed when all of that goes', async () => {
    const { node } = world;
    mkdirSync(path.dirname(node.adoptedProgram));
    writeFileSync(node.adoptedProgram, stubProgram({ mark: 'go' }), { mode: 0o700 });
    await node.install(node.adoptedProgram);
    expect(await removeCsiProxy({ configFile: config(), isAdopted: false })).toBeUndefined();
    expect(node.process.pid).toBeDefined();
    expect(await removeCsiProxy({ configFile: config(), isAdopted: true })).toBeUndefined();
    expect([await node.command(), existsSync(node.adoptedProgram)]).toEqual([[], false]);
    expect(existsSync(path.join(world.folder, 'csi-proxy'))).toBe(false);
  });

  it('loads nothing where no daemon has installed one', async () => {
    expect(await removeCsiProxy({ configFile: config(), isAdopted: false })).toBeUndefined();
    expect(world.starts).toBe(0);
  });
});
