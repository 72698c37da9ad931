import type { Decision } from '../../kernel/audit/decision.js';
import { parseConfig, type LoadedConfig } from '@wins/config';
import { Keeper } from './keeper.js';
import { archiveOf } from './testing/archive-of.js';
import { linuxManager } from './testing/linux-manager.js';
import { LinuxService } from './testing/linux-service.js';
import { memoryDownload } from './testing/memory-download.js';
import { quickClock } from './testing/quick-clock.js';
import { stubProgram } from './testing/stub-program.js';
import { posixFileTrust } from '@wins/trusted-files';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import type { Kernel } from '../../kernel/feature.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { csiProxyHost } from './csi-proxy-port.js';
import { csiProxyFeature, type KeptSettings, type RunningCsiProxy } from './feature.js';
import { removeCsiProxy, type LoadCsiProxy } from './remove-csi-proxy.js';
import { startCsiProxy } from './start-csi-proxy.js';

const { lacks: LACKS } = csiProxyHost;
const URL_OF = 'https://example.com/%s.tar.gz';
const SECTION = `csi-proxy: {url: "${URL_OF}", version: v1.1.3, kubeletPath: /k}`;

type Switch = FeatureSwitch<KeptSettings, RunningCsiProxy>;

class World implements AsyncDisposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'csi-switch-'));
  readonly service = new LinuxService(path.join(this.folder, 'service.json'));
  readonly decisions: Decision[] = [];
  readonly lines: string[] = [];
  readonly files = new Map<string, Buffer>();
  loads = 0;
  readonly #open: Switch[] = [];

  switch({ lacks, fails = false }: { lacks?: string | undefined; fails?: boolean } = {}): Switch {
    csiProxyHost.lacks = lacks;
    const audit = {
      decided: (decision: Decision) => {
        this.decisions.push(decision);
        return Promise.resolve();
      },
    };
    const kernel = kernelOf({ audit, trust: posixFileTrust() }, this.lines);
    const made = new FeatureSwitch(csiProxyFeature(this.load(fails)), kernel);
    this.#open.push(made);
    return made;
  }

  apply(one: Switch, text: string): void {
    one.apply(one.feature.settings(this.config(text)));
  }

  /** Loads the csi-proxy bundle with a stand-in for the Windows service. */
  load(fails = false): LoadCsiProxy {
    return () => {
      this.loads += 1;
      if (fails) throw new Error('the bundle is not there');
      return Promise.resolve({
        startCsiProxy: (parts, desired) =>
          Promise.resolve(
            new Keeper(
              {
                ...parts,
                service: this.service,
                graceMs: 50,
                clock: quickClock(),
                programMagic: Buffer.from('#!'),
                downloadFor: () => Promise.resolve(memoryDownload(this.files)),
              },
              desired,
            ),
          ),
      });
    };
  }

  async publish(version: string): Promise<void> {
    const content = stubProgram({ mark: version });
    const archive = await archiveOf([{ name: 'csi-proxy.exe', content }]);
    this.files.set(URL_OF.replace('%s', version), archive);
  }

  config(text: string): LoadedConfig {
    return { ...parseConfig(text), path: path.join(this.folder, 'config'), found: true };
  }

  async [Symbol.asyncDispose]() {
    for (const one of this.#open) await one.close();
    await this.service.stop(0);
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
const stateOf = (one: Switch) => one.running?.kept.state.kind;
const isWell = (one: Switch) =>
  one.state.kind !== 'failed' &&
  !('isFault' in one.state && one.state.isFault) &&
  (one.feature.conditions?.(one, {} as Kernel) ?? []).every(({ level }) => level !== 'problem');

describe('the feature csi-proxy', () => {
  let world: World;
  beforeEach(() => (world = new World()));
  afterEach(() => world[Symbol.asyncDispose]());

  it('loads nothing while no config has ever wanted it', async () => {
    const one = world.switch();
    world.apply(one, '');
    await until(one, () => one.state.kind === 'off');
    expect([isWell(one), one.reason]).toEqual([true, 'the config has no section csi-proxy']);
    await one.close();
    expect(world.loads).toBe(0);
  });

  it('keeps it with the section, follows the config, and takes away what is ours without it', async () => {
    await world.publish('v1.1.3');
    await world.publish('v1.2.0');
    const one = world.switch();
    world.apply(one, SECTION);
    await until(one, () => stateOf(one) === 'serving');
    const first = world.service.pid;
    world.apply(one, `${SECTION}\ndebug: true`);
    world.apply(one, SECTION.replace('v1.1.3', 'v1.2.0'));
    await until(one, () => /v1\.2\.0 serves/.test(JSON.stringify(one.running?.kept.state)));
    await one.running?.kept.apply();
    expect(world.service.pid).not.toBe(first);
    expect(world.decisions.map(({ action }) => action)).toEqual([
      'csiProxyFetch',
      'csiProxySwitch',
      'csiProxyFetch',
      'csiProxySwitch',
      'csiProxyTidy',
    ]);
    world.apply(one, '');
    await until(one, () => !existsSync(path.join(world.folder, 'csi-proxy')));
    expect(await world.service.query()).toBeUndefined();
    expect(world.loads).toBe(1);
    await one.close();
    expect(one.running).toBeUndefined();
  });

  it('takes away what an earlier daemon has installed', async () => {
    await world.publish('v1.1.3');
    const first = world.switch();
    world.apply(first, SECTION);
    await until(first, () => stateOf(first) === 'serving');
    await first.close();
    expect(await world.service.isServing()).toBe(true);
    const next = world.switch();
    world.apply(next, '');
    await until(next, () => !existsSync(path.join(world.folder, 'csi-proxy')));
    expect(await world.service.query()).toBeUndefined();
  });

  it('leaves all as it is when the section is wrong', async () => {
    await world.publish('v1.1.3');
    const one = world.switch();
    world.apply(one, SECTION);
    await until(one, () => stateOf(one) === 'serving');
    const { pid } = world.service;
    world.apply(one, SECTION.replace('%s', '%d'));
    await until(one, () => !isWell(one) && one.running === undefined);
    expect(one.reason).toMatch(/csi-proxy\.url: found "%d" at column/);
    expect(world.service.pid).toBe(pid);
  });

  it('is not well when it fails, and is well again afterwards', async () => {
    const one = world.switch();
    world.apply(one, SECTION);
    await until(one, () => !isWell(one));
    expect(stateOf(one)).toBe('failed');
    await world.publish('v1.1.3');
    await one.running?.kept.apply();
    expect([isWell(one), stateOf(one)]).toEqual([true, 'serving']);
    expect(world.lines.join('')).toMatch(/"state":"failed".*downloadFailed/);
  });

  it('does not take the daemon with it when it cannot start', async () => {
    const one = world.switch({ fails: true });
    world.apply(one, SECTION);
    await until(one, () => !isWell(one));
    expect(one.reason).toBe('it cannot start: the bundle is not there');
    await one.close();
  });

  it('is off where there are no such services, with a reason, and is well', async () => {
    const one = world.switch({ lacks: LACKS });
    world.apply(one, SECTION);
    expect([one.reason, isWell(one), world.loads]).toEqual([LACKS, true, 0]);
    await one.close();
  });
});

describe('an uninstallation', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
    csiProxyHost.lacks = undefined;
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const parts = () => ({ trust: posixFileTrust(), load: world.load() });
  const config = () => path.join(world.folder, 'config');

  it('takes away the csi-proxy that a daemon has installed', async () => {
    await world.publish('v1.1.3');
    const one = world.switch();
    world.apply(one, SECTION);
    await until(one, () => stateOf(one) === 'serving');
    await one.close();
    expect(
      await removeCsiProxy({ configFile: config(), isAdopted: false }, parts()),
    ).toBeUndefined();
    expect(await world.service.query()).toBeUndefined();
    expect(existsSync(path.join(world.folder, 'csi-proxy'))).toBe(false);
  });

  it('takes away what the original has installed when all of that goes', async () => {
    const file = path.join(world.folder, 'service');
    const service = new LinuxService(file);
    const program = path.join(world.folder, 'System32', 'csi-proxy.exe');
    mkdirSync(path.dirname(program));
    writeFileSync(program, stubProgram({ mark: 'go' }), { mode: 0o700 });
    await service.create({ program, args: [] });
    await service.start();
    const start: typeof startCsiProxy = (given, desired) =>
      startCsiProxy(given, desired, () => linuxManager(file));
    const how = { trust: posixFileTrust(), load: () => Promise.resolve({ startCsiProxy: start }) };
    expect(await removeCsiProxy({ configFile: config(), isAdopted: false }, how)).toBeUndefined();
    expect((await service.query())?.isRunning).toBe(true);
    expect(await removeCsiProxy({ configFile: config(), isAdopted: true }, how)).toBeUndefined();
    expect([await service.query(), existsSync(program)]).toEqual([undefined, false]);
    expect(existsSync(path.join(world.folder, 'csi-proxy'))).toBe(false);
  });

  it('loads nothing where no daemon has installed one', async () => {
    expect(
      await removeCsiProxy({ configFile: config(), isAdopted: false }, parts()),
    ).toBeUndefined();
    expect(world.loads).toBe(0);
  });
});
