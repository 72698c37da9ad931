// Longer than most files: it follows one node through its whole life, with every possible failure.
import { posixFileTrust } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Decision } from '../../kernel/audit/decision.js';
import type { CsiProxyService, KeeperOptions } from './csi-proxy-port.js';
import { Keeper } from './keeper.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';
import { archiveOf } from './testing/archive-of.js';
import { LinuxService } from './testing/linux-service.js';
import { memoryDownload } from './testing/memory-download.js';
import { patientClock } from './testing/patient-clock.js';
import { stubProgram, type StubBehaviour } from './testing/stub-program.js';

const SCRIPT = Buffer.from('#!');
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const urlOf = (version: string): string => `https://example.com/${version}.tar.gz?sig=canary`;

class Node {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'csi-'));
  readonly home = path.join(this.folder, 'wins', 'csi-proxy');
  readonly goProgram = path.join(this.folder, 'System32', 'csi-proxy.exe');
  readonly service = new LinuxService(path.join(this.folder, 'service.json'));
  readonly files = new Map<string, Buffer>();
  readonly decisions: Decision[] = [];
  readonly states: string[] = [];
  readonly warnings: string[] = [];
  readonly open: Keeper[] = [];
  /** Returns whether the service never does what the keeper waits for. */
  isHopeless = (): Promise<boolean> => Promise.resolve(false);

  desired(version: string, more: Partial<DesiredCsiProxy> = {}): DesiredCsiProxy {
    const args = ['-windows-service', '-v=1'];
    return { url: urlOf(version), version, args, folder: this.home, trust: {}, ...more };
  }

  async publish(version: string, behaviour: Partial<StubBehaviour> = {}): Promise<Buffer> {
    const content = stubProgram({ mark: version, ...behaviour });
    const archive = await archiveOf([{ name: 'bin/csi-proxy.exe', content }]);
    this.files.set(urlOf(version), archive);
    return archive;
  }

  async installGo(): Promise<void> {
    mkdirSync(path.dirname(this.goProgram));
    writeFileSync(this.goProgram, stubProgram({ mark: 'go' }), { mode: 0o700 });
    await this.service.create({ program: this.goProgram, args: ['-windows-service'] });
    await this.service.start();
  }

  keep(desired: DesiredCsiProxy | undefined, more: Partial<KeeperOptions> = {}): Keeper {
    const kept = new Keeper(
      {
        stateFolder: this.home,
        service: this.service,
        goProgram: this.goProgram,
        downloadFor: () => Promise.resolve(memoryDownload(this.files)),
        trust: posixFileTrust(),
        programMagic: SCRIPT,
        clock: patientClock(() => this.isHopeless()),
        graceMs: 50,
        onDecision: (decision) => {
          this.decisions.push(decision);
          return Promise.resolve();
        },
        onState: ({ kind }) => this.states.push(kind),
        onWarning: (message) => this.warnings.push(message),
        ...more,
      },
      desired,
    );
    this.open.push(kept);
    return kept;
  }

  async runs(version: string): Promise<boolean> {
    const { program } = (await this.service.query())?.command ?? {};
    return program?.startsWith(path.join(this.home, `${version}-`)) ?? false;
  }

  /** Returns the mark of the program that serves the pipe. */
  answer(): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(this.service.pipe).setEncoding('utf8');
      socket.on('data', (part) => (text += String(part)));
      socket.on('error', reject).on('close', () => resolve(text));
    });
  }

  get record() {
    return JSON.parse(readFileSync(path.join(this.home, 'state.json'), 'utf8')) as {
      pins: Record<string, string>;
      trial?: object;
    };
  }

  async [Symbol.asyncDispose]() {
    for (const kept of this.open) await kept.close();
    await this.service.stop(0);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe('a node', () => {
  let node: Node;
  beforeEach(() => (node = new Node()));
  afterEach(() => node[Symbol.asyncDispose]());

  it('gets csi-proxy, private and verified, and is told each step', async () => {
    const archive = await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toEqual({ kind: 'serving', detail: 'v1.1.3 serves' });
    expect(node.states).toEqual(['fetching', 'verified', 'installed', 'serving']);
    expect(await node.answer()).toBe('v1.1.3');
    const { command } = (await node.service.query()) ?? {};
    expect(command).toEqual({
      program: path.join(node.home, `v1.1.3-${sha256(archive).slice(0, 12)}`, 'csi-proxy.exe'),
      args: ['-windows-service', '-v=1'],
    });
    for (const folder of [node.home, path.dirname(command?.program ?? '')])
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(node.home).sort()).toEqual([
      'state.json',
      path.basename(path.dirname(command?.program ?? '')),
    ]);
    expect(node.decisions.map(({ action }) => action)).toEqual(['csiProxyFetch', 'csiProxySwitch']);
    expect(JSON.stringify([node.decisions, node.warnings, kept.state])).not.toContain('canary');
  });

  it('is left as it is when all is well, by the same daemon and by the next', async () => {
    await node.publish('v1.1.3');
    const first = node.keep(node.desired('v1.1.3'));
    await first.apply();
    const { pid } = node.service;
    await first.apply();
    await first.close();
    expect(node.service.pid).toBe(pid);
    node.files.clear();
    const next = node.keep(node.desired('v1.1.3'));
    expect((await next.apply()).kind).toBe('serving');
    expect([node.service.pid, node.decisions.length]).toEqual([pid, 2]);
    expect(await next.plan()).toEqual([{ action: 'rest', reason: 'v1.1.3 serves' }]);
  });

  it('is upgraded although the old program does not end when it is asked to', async () => {
    await node.publish('v1.1.2');
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.2'));
    await kept.apply();
    const { pid } = node.service;
    expect(await node.answer()).toBe('v1.1.2');
    kept.want(node.desired('v1.1.3'));
    expect((await kept.apply()).kind).toBe('serving');
    expect(await node.answer()).toBe('v1.1.3');
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(readdirSync(node.home).filter((name) => name.startsWith('v1.1.2'))).toEqual([]);
  });

  it('gets back what it had when the new program does not serve, and it is not tried again soon', async () => {
    await node.publish('v1.1.2', { stops: true });
    await node.publish('v1.1.3', { serves: false });
    node.isHopeless = () => node.runs('v1.1.3');
    const kept = node.keep(node.desired('v1.1.2'));
    await kept.apply();
    kept.want(node.desired('v1.1.3'));
    const state = await kept.apply();
    expect(state).toMatchObject({ kind: 'failed', code: 'notServing', failures: 1 });
    expect(state).toMatchObject({
      detail: expect.stringMatching(/the previous release was restored/) as string,
    });
    expect(await node.answer()).toBe('v1.1.2');
    expect(node.record).not.toHaveProperty('trial');
    kept.want(node.desired('v1.1.2'));
    expect((await kept.apply()).kind).toBe('serving');
  });

  it('has no service when the first one does not serve', async () => {
    await node.publish('v1.1.3', { serves: false });
    node.isHopeless = () => node.runs('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({
      code: 'notServing',
      detail: expect.stringMatching(/the new service was removed again/) as string,
    });
    expect(await node.service.query()).toBeUndefined();
  });

  it('is started again when the service has stopped, also when a process of it is left', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    const { pid = 0 } = node.service;
    await node.service.stop(0);
    expect((await kept.apply()).kind).toBe('serving');
    expect(node.service.pid).not.toBe(pid);
    // The service manager reports a stopped service, while the process and its pipe continue.
    const { command = { program: '', args: [] } } = (await node.service.query()) ?? {};
    await node.service.remove();
    await node.service.create(command);
    expect(await node.service.isServing()).toBe(true);
    expect((await kept.apply()).kind).toBe('serving');
    expect(await node.answer()).toBe('v1.1.3');
  });

  it('of an earlier release is taken over, and its program removed', async () => {
    await node.installGo();
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect((await kept.apply()).kind).toBe('serving');
    expect(await node.answer()).toBe('v1.1.3');
    expect(existsSync(node.goProgram)).toBe(false);
    // wins owns the service now, so `want(undefined)` removes it.
    kept.want(undefined);
    expect((await kept.apply()).kind).toBe('absent');
    expect(await node.service.query()).toBeUndefined();
    expect(existsSync(node.home)).toBe(false);
  });

  it('of an earlier release whose program is gone already when it is taken over comes to rest', async () => {
    await node.installGo();
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'), {
      onDecision: ({ action }) => {
        if (action === 'csiProxyTidy')
          rmSync(path.dirname(node.goProgram), { recursive: true, force: true });
        return Promise.resolve();
      },
    });
    expect((await kept.apply()).kind).toBe('serving');
    expect(node.record).not.toHaveProperty('obsolete');
    expect(node.warnings).toEqual([]);
  });

  it('of an earlier release is not gone before its program is, and the next try removes that', async () => {
    const { goProgram, service } = node;
    await node.installGo();
    const program = readFileSync(goProgram);
    const held = new Proxy<CsiProxyService>(service, {
      get: (target, name: keyof CsiProxyService) => {
        if (name === 'name') return target.name;
        const method = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => {
          const result = await method(...args);
          if (name !== 'remove') return result;
          // A folder with this name cannot be removed as a file.
          rmSync(goProgram);
          mkdirSync(goProgram);
          return result;
        };
      },
    });
    const kept = node.keep(undefined, { removesGo: true, service: held });
    const isLeft = {
      kind: 'failed',
      code: 'fileFailed',
      detail: expect.stringContaining(goProgram) as string,
    };
    expect(await kept.apply()).toMatchObject(isLeft);
    expect(await kept.apply()).toMatchObject(isLeft);
    expect(await service.query()).toBeUndefined();
    rmdirSync(goProgram);
    writeFileSync(goProgram, program, { mode: 0o700 });
    expect((await kept.apply()).kind).toBe('absent');
    expect([existsSync(goProgram), existsSync(node.home)]).toEqual([false, false]);
  });

  it('of an earlier release stays whole when its program cannot be read', async () => {
    mkdirSync(node.goProgram, { recursive: true });
    await node.service.create({ program: node.goProgram, args: [] });
    const kept = node.keep(undefined, { removesGo: true });
    expect(await kept.apply()).toMatchObject({
      kind: 'failed',
      code: 'fileFailed',
      detail: expect.stringContaining(node.goProgram) as string,
    });
    expect(await node.service.query()).toBeDefined();
  });

  it('keeps a service that someone else has installed, with a section and without', async () => {
    const foreign = path.join(node.folder, 'aks.exe');
    writeFileSync(foreign, stubProgram({ mark: 'aks' }), { mode: 0o700 });
    await node.service.create({ program: foreign, args: [] });
    await node.service.start();
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    for (const desired of [node.desired('v1.1.3'), undefined]) {
      kept.want(desired);
      await kept.apply();
      expect((await node.service.query())?.command?.program).toBe(foreign);
    }
    expect(node.decisions).toEqual([]);
  });

  it('keeps a service that an administrator has disabled', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    // Disables the service as an administrator would.
    const definition = path.join(node.folder, 'service.json');
    const { command } = JSON.parse(readFileSync(definition, 'utf8')) as { command: object };
    writeFileSync(definition, JSON.stringify({ command, isDisabled: true }));
    await node.service.stop(0);
    expect(await kept.apply()).toEqual({
      kind: 'absent',
      detail: 'an administrator disabled the service',
    });
  });

  it('accepts the archive that it saw first, or the one that the config names', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    const first = node.record.pins['v1.1.3'] ?? '';
    await node.publish('v1.1.4');
    kept.want(node.desired('v1.1.4'));
    await kept.apply();
    const other = await node.publish('v1.1.3', { mark: 'other' });
    kept.want(node.desired('v1.1.3'));
    const state = await kept.apply();
    expect(state).toMatchObject({ kind: 'failed', code: 'digestMismatch' });
    expect(state).toMatchObject({
      detail: expect.stringMatching(new RegExp(`wanted ${first}`)) as string,
    });
    expect(await node.answer()).toBe('v1.1.4');
    kept.want(node.desired('v1.1.3', { sha256: sha256(other) }));
    expect((await kept.apply()).kind).toBe('serving');
    expect(await node.answer()).toBe('other');
  });

  it.each<[string, (node: Node) => Promise<Buffer>, string]>([
    ['a page', () => Promise.resolve(Buffer.from('<html>')), 'archiveRefused'],
    [
      'another kind of program',
      () => archiveOf([{ name: 'csi-proxy.exe', content: '\u007fELF' }]),
      'archiveRefused',
    ],
  ])('that gets %s keeps its program, and leaves no temporary file', async (_, bytes, code) => {
    await node.publish('v1.1.2');
    const kept = node.keep(node.desired('v1.1.2'));
    await kept.apply();
    const { pid } = node.service;
    node.files.set(urlOf('v1.1.3'), await bytes(node));
    kept.want(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({ kind: 'failed', code });
    expect(node.service.pid).toBe(pid);
    const left = readdirSync(node.home, { recursive: true }).map(String);
    expect(left.filter((name) => /part|archive/.test(name))).toEqual([]);
  });

  it('without a server is tried again, ever more slowly, and new settings begin anew', async () => {
    const kept = node.keep(node.desired('v1.1.3'));
    const first = await kept.apply();
    expect(first).toMatchObject({ kind: 'failed', code: 'downloadFailed' });
    expect(first).toMatchObject({
      detail: expect.stringMatching(/v1\.1\.3\.tar\.gz: .*404/) as string,
    });
    expect(JSON.stringify(first)).not.toContain('canary');
    const second = await kept.apply();
    const failures = (state: typeof first) => (state.kind === 'failed' ? state.failures : 0);
    expect(failures(second)).toBeGreaterThan(failures(first));
    await node.publish('v1.1.3');
    kept.want(node.desired('v1.1.3', { args: ['-windows-service'] }));
    expect((await kept.apply()).kind).toBe('serving');
  });

  it('gives up a download when something else is wanted, or it is closed', async () => {
    await node.publish('v1.1.3');
    let aborted = 0;
    const started = new Set<() => void>();
    const begun = () => new Promise<void>((resolve) => started.add(resolve));
    const slow: KeeperOptions['downloadFor'] = () =>
      Promise.resolve((url, wanted, sink) => {
        // The download must be limited in size and must be gzip.
        expect(wanted).toMatchObject({ maxBytes: 2 ** 28, magic: Uint8Array.of(0x1f, 0x8b) });
        if (!url.includes('slow')) return memoryDownload(node.files)(url, wanted, sink);
        for (const tell of started) tell();
        return new Promise((_, reject) => {
          wanted.signal?.addEventListener('abort', () => {
            aborted += 1;
            reject(wanted.signal?.reason as Error);
          });
        });
      });
    const first = begun();
    const kept = node.keep(node.desired('v1.1.2', { url: 'https://slow/' }), { downloadFor: slow });
    await first;
    kept.want(node.desired('v1.1.3'));
    expect((await kept.apply()).kind).toBe('serving');
    const second = begun();
    kept.want(node.desired('v1.1.4', { url: 'https://slow/' }));
    await second;
    const waiting = kept.apply();
    const refused = expect(waiting).rejects.toMatchObject({ code: 'closed' });
    await kept.close();
    await refused;
    expect(aborted).toBe(2);
    await expect(kept.apply()).rejects.toMatchObject({ code: 'closed' });
    expect(await node.answer()).toBe('v1.1.3');
  });

  it('does nothing that cannot be recorded first', async () => {
    await node.publish('v1.1.3');
    const onDecision = () => Promise.reject(new Error('the disk of the audit log is full'));
    const kept = node.keep(node.desired('v1.1.3'), { onDecision });
    expect(await kept.apply()).toMatchObject({ kind: 'failed' });
    expect(await node.service.query()).toBeUndefined();
    expect(existsSync(node.home)).toBe(false);
  });

  it('says in a dry run what would be done, and does nothing', async () => {
    const never = new Promise<never>(() => undefined);
    const kept = node.keep(undefined);
    await kept.apply();
    const other = node.keep(node.desired('v1.1.3'), { onDecision: () => never });
    expect((await other.plan()).map(({ action }) => action)).toEqual(['fetch', 'switch', 'rest']);
    node.open.pop();
  });

  it('does not use a folder that others can write to, and says which', async () => {
    mkdirSync(node.home, { recursive: true });
    chmodSync(node.home, 0o777);
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    const state = await kept.apply();
    expect(state).toMatchObject({ kind: 'failed', code: 'fileFailed' });
    expect(state).toMatchObject({ detail: expect.stringContaining(node.home) as string });
  });

  it('does not follow a link in the place of its folder', async () => {
    mkdirSync(path.dirname(node.home), { recursive: true });
    mkdirSync(path.join(node.folder, 'elsewhere'), { mode: 0o700 });
    symlinkSync(path.join(node.folder, 'elsewhere'), node.home);
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({ code: 'fileFailed' });
    expect(readdirSync(path.join(node.folder, 'elsewhere'))).toEqual([]);
  });

  it('does not guess what a broken record meant', async () => {
    mkdirSync(node.home, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(node.home, 'state.json'), '{"format": 1, "pins": 7}', { mode: 0o600 });
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({
      code: 'fileFailed',
      detail: expect.stringMatching(/state\.json: it is not a record .* Remove the file/) as string,
    });
  });

  it('fetches again what someone has changed, and never runs it', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    const { program = '' } = (await node.service.query())?.command ?? {};
    rmSync(program);
    writeFileSync(program, stubProgram({ mark: 'evil' }), { mode: 0o700 });
    await node.service.stop(0);
    expect((await kept.apply()).kind).toBe('serving');
    expect(await node.answer()).toBe('v1.1.3');
  });

  it('says so when another process has the pipe', async () => {
    const squatter = new LinuxService(path.join(node.folder, 'service.json'));
    const program = path.join(node.folder, 'squatter');
    writeFileSync(program, stubProgram({ mark: 'squatter' }), { mode: 0o700 });
    await squatter.create({ program, args: [] });
    await squatter.start();
    const { pid = 0 } = squatter;
    await squatter.remove();
    await node.publish('v1.1.3');
    try {
      for (let isUp = false; !isUp; isUp = await squatter.isServing());
      node.isHopeless = () => Promise.resolve(true);
      const kept = node.keep(node.desired('v1.1.3'));
      expect(await kept.apply()).toMatchObject({
        code: 'serviceFailed',
        detail: expect.stringMatching(/another process serves its pipe/) as string,
      });
      expect(await node.answer()).toBe('squatter');
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });
});

describe('a daemon that dies while it changes the service', () => {
  const CALLS = ['stop', 'setCommand', 'start', 'isServing'] as const;

  it.each(CALLS.flatMap((call) => [true, false].map((isAfter) => [isAfter, call] as const)))(
    'leaves a change that the next daemon completes (after: %s, %s)',
    async (isAfter, call) => {
      await using node = new Node();
      await node.publish('v1.1.2');
      await node.publish('v1.1.3');
      const first = node.keep(node.desired('v1.1.2'));
      await first.apply();
      await first.close();
      const dead = new Promise<never>(() => undefined);
      let died: () => void = () => undefined;
      const dying = new Promise<void>((resolve) => (died = resolve));
      // `call` and all later calls never return, as if the process had died.
      let isDead = false;
      let isArmed = false;
      const service = new Proxy<CsiProxyService>(node.service, {
        get: (target, name: keyof CsiProxyService) => {
          if (name === 'name') return target.name;
          const method = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
          return async (...args: unknown[]) => {
            if (isDead) return dead;
            if (name === 'stop') isArmed = true;
            if (!isArmed || name !== call) return method(...args);
            isDead = true;
            if (isAfter) await method(...args);
            died();
            return dead;
          };
        },
      });
      node.keep(node.desired('v1.1.3'), { service });
      // This keeper is never closed, as if its process had died.
      node.open.pop();
      await dying;
      const next = node.keep(node.desired('v1.1.3'));
      expect((await next.apply()).kind).toBe('serving');
      expect(await node.answer()).toBe('v1.1.3');
      expect(node.record).not.toHaveProperty('trial');
    },
  );
});
