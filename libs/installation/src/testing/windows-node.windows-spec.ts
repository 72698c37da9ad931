// Longer than most files, because all tests share one node, which must be restored at the end.
import { serviceControlManager, windowsFileTrust, windowsNode } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readFacts } from '../facts/read-facts.js';
import type { ItemKind } from '../item/item.js';
import type { NodeHost } from '../ports.js';
import { planInstall } from '../plan/plan-install.js';
import { planUninstall } from '../plan/plan-uninstall.js';
import { applyPlan, finishOrUndo } from '../run/apply-plan.js';
import type { Around } from '../install-context.js';
import { uninstall } from '../run/uninstall.js';
import { installPaths } from '../desired/install-paths.js';
import type { DesiredInstallation } from '../desired/desired-installation.js';
import { Secret } from '../desired/secret.js';
import { storeContract, type StoreSubject } from './store-contract.js';

const SERVICE = `wins-spec-${process.pid}`;
const MANNERS = {
  displayName: 'wins spec',
  description: 'a test',
  dependencies: [],
  failurePolicy: { restartDelaysMs: [5000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: 1000,
};
const bytes = [Buffer.from('one'), Buffer.from('two')] as const;
const [one, two] = bytes.map(digestOf) as [string, string];
/** A test certificate, valid for a hundred years. */
const CERTIFICATE = Buffer.from(
  'MIIBkjCCATmgAwIBAgIUPW4XvWRIgwNHMvxBsuY5T76F6Q8wCgYIKoZIzj0EAwIwHjEcMBoGA1UEAwwTd2lucyB0ZXN0IGF1dGhvcml0eTAgFw0yNjExMjMwMDUxMzlaGA8yMTI2MTAzMDAwNTEzOVowHjEcMBoGA1UEAwwTd2lucyB0ZXN0IGF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABN34/tptY6GX1liV2m32G0P9hFVUZz/m8wLvqq4Yp6LQrpCix3MjQIw3IKgbF/pveG0ZPxuxnPX085lzSKSWWQujUzBRMB0GA1UdDgQWBBTQ37rSt1pzrhk2bBhoIIxzLsDZLDAfBgNVHSMEGDAWgBTQ37rSt1pzrhk2bBhoIIxzLsDZLDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIQCeUQhqZdGM1WEP2VF3ow9Y3cbPfEgxzHVI0Wz4OR2aRwIfQ2aQTSt+GIVCJ02L0/srPlIFoRVIrR9xg/hEU4lMNQ==',
  'base64',
);
const PEM = `-----BEGIN CERTIFICATE-----\n${CERTIFICATE.toString('base64')}\n-----END CERTIFICATE-----\n`;

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Whether the service manager stores dependencies; Wine's forgets them. */
function keepsDependencies(): boolean {
  const services = serviceControlManager();
  const name = `${SERVICE}-4`;
  services.register({
    ...MANNERS,
    name,
    displayName: name,
    dependencies: ['EventLog'],
    command: ['C:\\none.exe'],
    startType: 'manual',
  });
  const { dependencies } = services.config(name);
  services.remove(name);
  return dependencies.length > 0;
}

/** Reads the registry with a program of Windows instead of the tested code. */
function registry(key: string, name: string): string {
  const program = path.join(process.env['SystemRoot'] ?? 'C:\\windows', 'System32', 'reg.exe');
  try {
    return execFileSync(program, ['query', `HKLM\\${key}`, '/v', name], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

const ENVIRONMENT = 'SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';

describe('a node of Windows', () => {
  const { stores, strangersIn, isBeingRemoved } = windowsNode(MANNERS);
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-node-'));
  const state = {
    command: '"C:\\windows\\system32\\winver.exe" a "b c"',
    startType: 'manual',
  } as const;
  const service = { kind: 'service', name: SERVICE } as const;
  before(() => stores.service.write(service, state, undefined));
  after(async () => {
    await stores.service.write(service, undefined, undefined);
    rmSync(folder, { recursive: true, force: true });
  });

  const subjects: { readonly [K in ItemKind]?: StoreSubject<K> } = {
    folder: {
      store: stores.folder,
      item: { kind: 'folder', path: path.join(folder, 'folder') },
      states: [{ access: 'private' }, { access: 'readable' }],
    },
    file: {
      store: stores.file,
      item: { kind: 'file', path: path.join(folder, 'file') },
      // No `readable`, because Wine shows read access as execute access.
      states: [
        { sha256: one, access: 'private' },
        { sha256: two, access: 'executable' },
      ],
      contents: bytes,
    },
    pathElement: {
      store: stores.pathElement,
      item: { kind: 'pathElement', path: 'C:\\wins spec\\bin' },
      states: ['present'],
    },
    certificate: {
      store: stores.certificate,
      item: { kind: 'certificate', sha256: digestOf(CERTIFICATE) },
      states: ['present'],
      contents: [CERTIFICATE],
    },
    winHttpProxy: {
      store: stores.winHttpProxy,
      item: { kind: 'winHttpProxy' },
      states: [
        { proxy: 'proxy:3128', bypass: '' },
        { proxy: 'other:3128', bypass: '*.local;10.*' },
      ],
    },
    eventSource: {
      store: stores.eventSource,
      item: { kind: 'eventSource', name: SERVICE },
      states: ['present'],
    },
    service: {
      store: windowsNode({ ...MANNERS, displayName: 'wins spec 2' }).stores.service,
      item: { kind: 'service', name: `${SERVICE}-2` },
      states: [
        state,
        { ...state, startType: 'automatic' },
        { command: 'C:\\a\\b.exe c', startType: 'disabled' },
      ],
    },
    variable: {
      store: stores.variable,
      item: { kind: 'variable', service: SERVICE, name: 'A_NAME' },
      states: [{ sha256: one }, { sha256: two }],
      contents: bytes,
    },
    ...(keepsDependencies() && {
      dependency: {
        store: stores.dependency,
        item: { kind: 'dependency', service: SERVICE, on: 'EventLog' },
        states: ['present'],
      } satisfies StoreSubject<'dependency'>,
    }),
  };
  for (const [kind, subject] of Object.entries(subjects)) {
    describe(`its store of ${kind}`, () => {
      for (const [name, check] of storeContract(subject as StoreSubject)) it(name, check);
    });
  }

  it('keeps the type of the PATH, what is not expanded in it, and its text', async () => {
    const before = registry(ENVIRONMENT, 'Path');
    assert.match(before, /REG_(EXPAND_)?SZ/);
    const item = { kind: 'pathElement', path: 'C:\\wins spec\\bin' } as const;
    await stores.pathElement.write(item, 'present', undefined);
    assert.equal(registry(ENVIRONMENT, 'Path').trim(), `${before.trim()};C:\\wins spec\\bin`);
    assert.equal(await stores.pathElement.read({ ...item, path: 'c:/WINS spec/bin/' }), 'present');
    await stores.pathElement.write(item, undefined, undefined);
    assert.equal(registry(ENVIRONMENT, 'Path'), before);
  });

  it('changes in the environment of a service its own names alone', async () => {
    const file = path.join(folder, 'value');
    writeFileSync(file, 'http://proxy');
    const sha256 = digestOf(Buffer.from('http://proxy'));
    for (const name of ['OTHER', 'HTTPS_PROXY']) {
      await stores.variable.write({ service: SERVICE, name }, { sha256 }, file);
    }
    const item = { kind: 'variable', service: SERVICE, name: 'https_proxy' } as const;
    await stores.variable.write(item, undefined, undefined);
    const key = `SYSTEM\\CurrentControlSet\\Services\\${SERVICE}`;
    assert.match(registry(key, 'Environment'), /REG_MULTI_SZ\s+OTHER=http:\/\/proxy\s*$/);
    await stores.variable.write({ ...item, name: 'OTHER' }, undefined, undefined);
    assert.equal(registry(key, 'Environment'), '');
  });

  it('does not make a service by a variable of it', async () => {
    const item = { service: `${SERVICE}-none`, name: 'A' };
    const file = path.join(folder, 'value');
    writeFileSync(file, 'one');
    await assert.rejects(stores.variable.write(item, { sha256: one }, file), /no such service/);
    assert.equal(await isBeingRemoved(`${SERVICE}-none`), false);
  });

  it('refuses a proxy of WinHTTP with a password, and tells it to no one', async () => {
    const proxy = { proxy: 'user:canary@proxy:1', bypass: '' };
    await assert.rejects(
      stores.winHttpProxy.write({ kind: 'winHttpProxy' }, proxy, undefined),
      (error: Error) => {
        assert.doesNotMatch(error.message, /canary/);
        return true;
      },
    );
  });

  it('does not remove a folder in which others have something', async () => {
    const inner = path.join(folder, 'full');
    const item = { kind: 'folder', path: inner } as const;
    await stores.folder.write(item, { access: 'private' }, undefined);
    writeFileSync(path.join(inner, 'theirs'), '');
    await assert.rejects(stores.folder.write(item, undefined, undefined), { code: 'ENOTEMPTY' });
    await stores.folder.write({ ...item, isData: true }, undefined, undefined);
    assert.equal(existsSync(inner), false);
  });

  describe('with an installation', () => {
    const root = path.join(folder, 'root');
    const paths = installPaths('win32', { root });
    const name = `${SERVICE}-3`;
    const running = new Set<string>();
    const host = (around?: Around): NodeHost => ({
      platform: 'win32',
      stores: {
        ...windowsNode({ ...MANNERS, displayName: 'wins spec 3' }).stores,
        // Simulated, because a service needs a program that connects to the service manager. The built program is tested elsewhere.
        running: {
          read: ({ service: of }) => Promise.resolve(running.has(of) ? 'present' : undefined),
          write: ({ service: of }, wanted) => {
            const change = (): Promise<void> => {
              if (wanted === undefined) running.delete(of);
              else running.add(of);
              return Promise.resolve();
            };
            return around === undefined ? change() : around('running', change);
          },
        },
      },
      trust: windowsFileTrust(),
      swap: { swap: () => Promise.reject(new Error('none')), settle: () => Promise.resolve() },
      prove: () => Promise.resolve(),
      answers: () => Promise.resolve(),
      versionOf: () => Promise.resolve('v1.0.0'),
      programOf: (command) => /^"([^"]+)"/.exec(command)?.[1],
      isBeingRemoved,
      strangersIn,
    });
    const program = path.join(folder, 'fetched.exe');
    const desired: DesiredInstallation = {
      paths,
      service: name,
      nodeId: 'abc',
      authorities: PEM,
      trustMachineStore: true,
      connectionInfo: new Secret('{}'),
      environment: { HTTPS_PROXY: new Secret('http://p') },
      program: { file: program, sha256: two, version: 'v1.0.0' },
    };
    before(() => {
      mkdirSync(root);
      writeFileSync(program, 'two');
      for (const top of ['etc', 'usr', 'var', 'ProgramData']) mkdirSync(path.join(root, top));
    });
    const found = async (): Promise<string> => {
      const { states } = await readFacts({ host: host(), paths }, desired);
      return JSON.stringify([...states]);
    };

    it('installs, does nothing the second time, and takes all of it away', async () => {
      const context = { host: host(), paths };
      const first = await found();
      const path = registry(ENVIRONMENT, 'Path');
      const plan = planInstall(await readFacts(context, desired), desired, (text) => text);
      assert.equal(plan.kind, 'steps', JSON.stringify(plan));
      const end = await applyPlan(context, plan);
      assert.deepEqual(end, { outcome: 'installed' });
      assert.equal(readFileSync(paths.connectionInfo, 'utf8'), '{}');
      assert.equal(
        planInstall(await readFacts(context, desired), desired, (text) => text).kind,
        'nothing',
      );
      const how = { service: name, programs: [paths.program] };
      const away = planUninstall(await readFacts(context, desired), how);
      assert.equal(away.kind, 'uninstall');
      const report = await uninstall(context, away);
      assert.deepEqual(report, { kept: [], failed: [] });
      assert.equal(await found(), first);
      assert.equal(registry(ENVIRONMENT, 'Path'), path);
      assert.equal(existsSync(paths.stateFolder), false);
    });

    /** Runs an installation that dies after an effect, and a run after it. Returns the number of effects without a death. */
    const dieAfter = async (last: number): Promise<number> => {
      let effects = 0;
      let die: (end: 'died') => void = () => undefined;
      const death = new Promise<'died'>((resolve) => (die = resolve));
      const around: Around = async (_effect, action) => {
        effects += 1;
        const result = await action();
        if (effects < last) return result;
        die('died');
        return new Promise<never>(() => undefined);
      };
      const context = { host: host(), paths, around };
      const plan = planInstall(await readFacts(context, desired), desired, (text) => text);
      assert.equal(plan.kind, 'steps');
      const end = await Promise.race([applyPlan(context, plan), death]);
      const next = { host: host(), paths };
      const recovered = await finishOrUndo(next);
      if (end !== 'died' || recovered?.outcome === 'finished' || existsSync(paths.stateFolder)) {
        const how = { service: name, programs: [paths.program] };
        const away = planUninstall(await readFacts(next, desired), how);
        assert.equal(away.kind, 'uninstall', JSON.stringify(away));
        await uninstall(next, away);
      }
      return effects;
    };

    // Deaths at every effect are in apply-plan.spec.ts. Here, the stores of Windows undo what an early, a middle and the last one left.
    it('is undone by the next run, where it died at first, in the middle or at last', async () => {
      const first = await found();
      const count = await dieAfter(Infinity);
      const isAll = process.env['WINS_TEST_ALL'] === '1';
      const every = Array.from({ length: count }, (_, index) => index + 1);
      for (const at of isAll ? every : [2, Math.ceil(count / 2), count]) {
        await dieAfter(at);
        assert.deepEqual([at, await found()], [at, first]);
      }
    });
  });
});
