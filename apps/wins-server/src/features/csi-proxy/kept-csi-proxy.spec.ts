// Longer than most files: it follows one node through its whole life, with every possible failure.
import { DetachedProcess } from '@wins/base/testing';
import type { Download } from '@wins/rancher-client';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { FeatureError } from '../../kernel/feature-error.js';
import { archiveOf } from './testing/archive-of.js';
import { KeptNode } from './testing/kept-node.js';
import { RUNNING, SERVICE } from './testing/linux-csi-node.js';
import { memoryDownload } from './testing/memory-download.js';
import { stubProgram } from './testing/stub-program.js';

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

describe('a node', () => {
  let node: KeptNode;
  beforeEach(() => (node = new KeptNode()));
  afterEach(() => node[Symbol.asyncDispose]());

  it('gets csi-proxy, private and verified, and is told each step', async () => {
    const archive = await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toEqual({ state: 'serving', detail: 'v1.1.3 serves' });
    expect(node.states).toEqual(['fetching', 'verified', 'installed', 'serving']);
    expect(await node.answer()).toBe('v1.1.3');
    const release = path.join(node.home, `v1.1.3-${sha256(archive).slice(0, 12)}`);
    const program = path.join(release, 'csi-proxy.exe');
    expect(await node.system.command()).toEqual([program, '-windows-service', '-v=1']);
    for (const folder of [node.home, release]) expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(program).mode & 0o022).toBe(0);
    expect(readdirSync(node.home).sort()).toEqual([
      'install',
      'state.json',
      path.basename(release),
    ]);
    expect(readdirSync(path.join(node.home, 'install'))).toEqual(['install-manifest.json']);
    expect(node.decisions.map(({ action }) => action)).toEqual(['csiProxyFetch', 'csiProxySwitch']);
    expect(JSON.stringify([node.decisions, node.warnings, kept.status])).not.toContain('canary');
  });

  it('is left as it is when all is well, by the same daemon and by the next', async () => {
    await node.publish('v1.1.3');
    const first = node.keep(node.desired('v1.1.3'));
    await first.apply();
    const { pid } = node.system.process;
    await first.apply();
    await first.close();
    expect(node.system.process.pid).toBe(pid);
    node.files.clear();
    const next = node.keep(node.desired('v1.1.3'));
    expect((await next.apply()).state).toBe('serving');
    expect([node.system.process.pid, node.decisions.length]).toEqual([pid, 2]);
    expect(await next.plan()).toEqual([{ action: 'rest', reason: 'v1.1.3 serves' }]);
  });

  it('is upgraded although the old program does not end when it is asked to', async () => {
    await node.publish('v1.1.2');
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.2'));
    await kept.apply();
    const { pid } = node.system.process;
    expect(await node.answer()).toBe('v1.1.2');
    kept.want(node.desired('v1.1.3'));
    expect((await kept.apply()).state).toBe('serving');
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
    expect(state).toMatchObject({
      state: 'failed',
      failure: { code: 'notServing', failures: 1 },
      detail: expect.stringMatching(
        /its pipe .* did not appear within 30 s\. .*; what was there before is restored/,
      ) as string,
    });
    expect(await node.answer()).toBe('v1.1.2');
    kept.want(node.desired('v1.1.2'));
    expect((await kept.apply()).state).toBe('serving');
  });

  it('has no service when the first one does not serve', async () => {
    await node.publish('v1.1.3', { serves: false });
    node.isHopeless = () => node.runs('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({
      failure: { code: 'notServing' },
      detail: expect.stringMatching(/what was there before is restored/) as string,
    });
    expect(await node.system.command()).toEqual([]);
    expect(readdirSync(node.home)).toEqual([]);
  });

  it('is started again when the service has stopped, also when a process of it is left', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    const { pid = 0 } = node.system.process;
    await node.system.process.stop(0);
    expect((await kept.apply()).state).toBe('serving');
    expect(node.system.process.pid).not.toBe(pid);
    // The service manager reports a stopped service, while the process and its pipe continue.
    rmSync(path.join(node.folder, 'system', 'csiproxy.pid'));
    expect([node.isInstalled, await node.system.isServing()]).toEqual([false, true]);
    expect((await kept.apply()).state).toBe('serving');
    expect([node.isInstalled, await node.answer()]).toEqual([true, 'v1.1.3']);
  });

  it('is not started again while a service that has just started may still open its pipe', async () => {
    await node.publish('v1.1.3');
    const first = node.keep(node.desired('v1.1.3'));
    await first.apply();
    await first.close();
    const { pid } = node.system.process;
    const looks: boolean[] = [];
    const isServing = node.system.isServing.bind(node.system);
    // The pipe is there from the third look on.
    node.system.isServing = async () => looks.push(true) > 2 && (await isServing());
    const next = node.keep(node.desired('v1.1.3'));
    expect(await next.apply()).toEqual({ state: 'serving', detail: 'v1.1.3 serves' });
    expect(node.system.process.pid).toBe(pid);
  });

  it('of an earlier release is taken over, and its program removed', async () => {
    await node.installGo();
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect((await kept.apply()).state).toBe('serving');
    expect(await node.answer()).toBe('v1.1.3');
    expect(existsSync(node.system.adoptedProgram)).toBe(false);
    // wins owns the service now, so `want(undefined)` removes it.
    kept.want(undefined);
    expect((await kept.apply()).state).toBe('absent');
    expect(await node.system.command()).toEqual([]);
    expect(existsSync(node.home)).toBe(false);
  });

  it('of an earlier release whose program is gone already when it is taken over comes to rest', async () => {
    await node.installGo();
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'), {
      onDecision: ({ action }) => {
        if (action === 'csiProxyTidy')
          rmSync(path.dirname(node.system.adoptedProgram), { recursive: true, force: true });
        return Promise.resolve();
      },
    });
    expect((await kept.apply()).state).toBe('serving');
    expect((await kept.plan()).map(({ action }) => action)).toEqual(['rest']);
    expect(node.warnings).toEqual([]);
  });

  it('of an earlier release is not gone before its program is, and the next try removes that', async () => {
    const { adoptedProgram, stores } = node.system;
    await node.installGo();
    const program = readFileSync(adoptedProgram);
    const { service } = stores;
    const held = {
      ...stores,
      service: {
        read: (item: typeof SERVICE) => service.read(item),
        write: async (...given: Parameters<typeof service.write>) => {
          await service.write(...given);
          // A folder with this name cannot be removed as a file.
          rmSync(adoptedProgram);
          mkdirSync(adoptedProgram);
        },
      },
    };
    Object.assign(node.system, { stores: held });
    const kept = node.keep(undefined, { removesAdopted: true });
    const isLeft = {
      state: 'failed',
      failure: { code: 'fileFailed' },
      detail: expect.stringContaining(adoptedProgram) as string,
    };
    expect(await kept.apply()).toMatchObject(isLeft);
    expect(await kept.apply()).toMatchObject(isLeft);
    expect(await node.system.command()).toEqual([]);
    rmdirSync(adoptedProgram);
    writeFileSync(adoptedProgram, program, { mode: 0o700 });
    expect((await kept.apply()).state).toBe('absent');
    expect([existsSync(adoptedProgram), existsSync(node.home)]).toEqual([false, false]);
  });

  it('of an earlier release stays whole when its program cannot be read', async () => {
    mkdirSync(node.system.adoptedProgram, { recursive: true });
    const state = { command: `"${node.system.adoptedProgram}"`, startType: 'automatic' } as const;
    await node.system.stores.service.write(SERVICE, state, undefined);
    const kept = node.keep(undefined, { removesAdopted: true });
    expect(await kept.apply()).toMatchObject({
      state: 'failed',
      failure: { code: 'fileFailed' },
      detail: expect.stringContaining(node.system.adoptedProgram) as string,
    });
    expect(await node.system.command()).toEqual([node.system.adoptedProgram]);
  });

  it('keeps a service that someone else has installed, with a section and without', async () => {
    const foreign = path.join(node.folder, 'aks.exe');
    writeFileSync(foreign, stubProgram({ mark: 'aks' }), { mode: 0o700 });
    await node.system.install(foreign);
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    for (const desired of [node.desired('v1.1.3'), undefined]) {
      kept.want(desired);
      await kept.apply();
      expect(await node.system.command()).toEqual([foreign]);
    }
    expect(node.decisions).toEqual([]);
  });

  it('keeps a service that an administrator has disabled', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    const { stores } = node.system;
    const state = await stores.service.read(SERVICE);
    if (state === undefined) throw new Error('a service is expected');
    await stores.service.write(SERVICE, { ...state, startType: 'disabled' }, undefined);
    await stores.running.write(RUNNING, undefined, undefined);
    expect(await kept.apply()).toEqual({
      state: 'absent',
      detail: 'an administrator disabled the service',
    });
  });

  it('accepts the archive that it saw first, or the one that the config names', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    const first = node.pins['v1.1.3'] ?? '';
    await node.publish('v1.1.4');
    kept.want(node.desired('v1.1.4'));
    await kept.apply();
    const other = await node.publish('v1.1.3', { mark: 'other' });
    kept.want(node.desired('v1.1.3'));
    const state = await kept.apply();
    expect(state).toMatchObject({ state: 'failed', failure: { code: 'digestMismatch' } });
    expect(state).toMatchObject({
      detail: expect.stringMatching(new RegExp(`wanted ${first}`)) as string,
    });
    expect(await node.answer()).toBe('v1.1.4');
    kept.want(node.desired('v1.1.3', { sha256: sha256(other) }));
    expect((await kept.apply()).state).toBe('serving');
    expect(await node.answer()).toBe('other');
  });

  it.each<[string, (node: KeptNode) => Promise<Buffer>, string]>([
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
    const { pid } = node.system.process;
    node.files.set(node.urlOf('v1.1.3'), await bytes(node));
    kept.want(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({ state: 'failed', failure: { code } });
    expect(node.system.process.pid).toBe(pid);
    const left = readdirSync(node.home, { recursive: true }).map(String);
    expect(left.filter((name) => /part|archive/.test(name))).toEqual([]);
  });

  it('without a server is tried again, ever more slowly, and new settings begin anew', async () => {
    const kept = node.keep(node.desired('v1.1.3'));
    const first = await kept.apply();
    expect(first).toMatchObject({ state: 'failed', failure: { code: 'downloadFailed' } });
    expect(first).toMatchObject({
      detail: expect.stringMatching(/v1\.1\.3\.tar\.gz: .*404/) as string,
    });
    expect(JSON.stringify(first)).not.toContain('canary');
    const second = await kept.apply();
    const failures = ({ failure }: typeof first) => failure?.failures ?? 0;
    expect(failures(second)).toBeGreaterThan(failures(first));
    await node.publish('v1.1.3');
    kept.want(node.desired('v1.1.3', { args: ['-windows-service'] }));
    expect((await kept.apply()).state).toBe('serving');
  });

  it('gives up a download when something else is wanted, or it is closed', async () => {
    await node.publish('v1.1.3');
    let aborted = 0;
    const started = new Set<() => void>();
    const begun = () => new Promise<void>((resolve) => started.add(resolve));
    const slow = (): Download => (url, wanted) => {
      // The download must be limited in size and must be gzip.
      expect(wanted).toMatchObject({ maxBytes: 2 ** 26, magic: Uint8Array.of(0x1f, 0x8b) });
      if (!url.includes('slow')) return memoryDownload(node.files)(url, wanted);
      for (const tell of started) tell();
      return new Promise((_, reject) => {
        wanted.signal?.addEventListener('abort', () => {
          aborted += 1;
          reject(wanted.signal?.reason as Error);
        });
      });
    };
    const first = begun();
    const kept = node.keep(node.desired('v1.1.2', { url: 'https://slow/' }), { downloadFor: slow });
    await first;
    kept.want(node.desired('v1.1.3'));
    expect((await kept.apply()).state).toBe('serving');
    const second = begun();
    kept.want(node.desired('v1.1.4', { url: 'https://slow/' }));
    await second;
    const waiting = kept.apply();
    const refused = expect(waiting).rejects.toMatchObject({ code: 'closed' });
    await kept.close(new FeatureError('closed', 'enough'));
    await refused;
    expect(aborted).toBe(2);
    await expect(kept.apply()).rejects.toMatchObject({ code: 'closed' });
    expect(await node.answer()).toBe('v1.1.3');
  });

  it('does nothing that cannot be recorded first', async () => {
    await node.publish('v1.1.3');
    const onDecision = () => Promise.reject(new Error('the disk of the audit log is full'));
    const kept = node.keep(node.desired('v1.1.3'), { onDecision });
    expect(await kept.apply()).toMatchObject({ state: 'failed' });
    expect(await node.system.command()).toEqual([]);
    expect(existsSync(node.home)).toBe(false);
  });

  it('says in a dry run what would be done, and does nothing', async () => {
    const never = new Promise<never>(() => undefined);
    const kept = node.keep(undefined);
    await kept.apply();
    const other = node.keep(node.desired('v1.1.3'), { onDecision: () => never });
    const folder = path.join(node.home, `v1.1.3-${'0'.repeat(12)}`);
    expect((await other.plan()).map(({ action }) => action.replace(/: .*/, ''))).toEqual([
      'fetch',
      `make folder ${folder}`,
      `make file ${path.join(node.home, 'state.json')}`,
      `make file ${path.join(folder, 'csi-proxy.exe')}`,
      'make service csiproxy',
      'start csiproxy',
    ]);
    expect(existsSync(node.home)).toBe(false);
    node.open.pop();
  });

  it('does not use a folder that others can write to, and says which', async () => {
    mkdirSync(node.home, { recursive: true });
    chmodSync(node.home, 0o777);
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    const state = await kept.apply();
    expect(state).toMatchObject({ state: 'failed', failure: { code: 'fileFailed' } });
    expect(state).toMatchObject({ detail: expect.stringContaining(node.home) as string });
  });

  it('does not follow a link in the place of its folder', async () => {
    mkdirSync(path.dirname(node.home), { recursive: true });
    mkdirSync(path.join(node.folder, 'elsewhere'), { mode: 0o700 });
    symlinkSync(path.join(node.folder, 'elsewhere'), node.home);
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({ failure: { code: 'fileFailed' } });
    expect(readdirSync(path.join(node.folder, 'elsewhere'))).toEqual([]);
  });

  it('does not guess what a broken record meant', async () => {
    mkdirSync(node.home, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(node.home, 'state.json'), '{"format": 1, "pins": 7}', { mode: 0o600 });
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    expect(await kept.apply()).toMatchObject({
      failure: { code: 'fileFailed' },
      detail: expect.stringMatching(/state\.json: it is not a record .* Remove the file/) as string,
    });
  });

  it('fetches again what someone has changed, and never runs it', async () => {
    await node.publish('v1.1.3');
    const kept = node.keep(node.desired('v1.1.3'));
    await kept.apply();
    const [program = ''] = await node.system.command();
    rmSync(program);
    writeFileSync(program, stubProgram({ mark: 'evil' }), { mode: 0o700 });
    await node.system.process.stop(0);
    expect((await kept.apply()).state).toBe('serving');
    expect(await node.answer()).toBe('v1.1.3');
  });

  it('says so when another process has the pipe', async () => {
    const program = path.join(node.folder, 'squatter');
    writeFileSync(program, stubProgram({ mark: 'squatter' }), { mode: 0o700 });
    const squatter = new DetachedProcess(path.join(node.folder, 'squatter.pid'));
    const environment = { PATH: process.env['PATH'], CSI_PROXY_PIPE: node.system.pipe };
    await squatter.start({ file: program, args: [], environment }, 0);
    await node.publish('v1.1.3');
    try {
      for (let isUp = false; !isUp; isUp = await node.system.isServing());
      node.isHopeless = () => Promise.resolve(true);
      const kept = node.keep(node.desired('v1.1.3'));
      expect(await kept.apply()).toMatchObject({
        failure: { code: 'serviceFailed' },
        detail: expect.stringMatching(/another process serves its pipe/) as string,
      });
      expect(await node.answer()).toBe('squatter');
    } finally {
      await squatter.stop(0);
    }
  });
});
