import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createCertificateAuthority } from '@wins/base/testing';
import { describePlan, type StepPlan } from '../plan/plan.js';
import { planInstall } from '../plan/plan-install.js';
import { editConfig, plainInstallation, TestNode } from '../testing/node-harness.js';
import type { DesiredInstallation } from '../desired/desired-installation.js';
import { Secret } from '../desired/secret.js';
import { applyPlan } from './apply-plan.js';

/** Calls `action` just before the first effect whose name begins with `effectPart`. */
async function installWhile(
  node: TestNode,
  desired: DesiredInstallation,
  effectPart: string,
  action: () => void,
): ReturnType<typeof applyPlan> {
  const { context } = node.context();
  const plan = planInstall(await node.facts(desired), desired, editConfig);
  if (plan.kind !== 'steps') throw new Error(plan.reason);
  let isDone = false;
  const around = <T>(effect: string, task: () => Promise<T>): Promise<T> => {
    if (!isDone && effect.startsWith(effectPart)) {
      isDone = true;
      action();
    }
    return task();
  };
  return applyPlan({ ...context, around }, plan);
}

describe('an installation beside other users', () => {
  it('is undone if one of them adds a file to a folder before its access list is changed', async () => {
    using node = new TestNode();
    const { programFolder } = node.paths;
    mkdirSync(programFolder, { recursive: true });
    chmodSync(programFolder, 0o777);
    const found = node.snapshot();
    const planted = path.join(programFolder, 'planted.dll');
    const end = await installWhile(node, plainInstallation(node), 'begin journal', () => {
      writeFileSync(planted, '');
      chmodSync(planted, 0o666);
    });
    expect(end).toMatchObject({ outcome: 'rolledBack', cause: { code: 'changed' } });
    expect(end).toHaveProperty('cause.message', expect.stringContaining(planted));
    expect(node.snapshot().filter((line) => !line.includes('planted'))).toEqual(found);
  });

  it.each<[string, (folder: string, elsewhere: string) => void]>([
    ['is open to them', (folder) => chmodSync(mkdirAll(folder), 0o777)],
    [
      'is a link of theirs',
      (folder, elsewhere) => {
        mkdirAll(path.dirname(folder));
        symlinkSync(mkdirAll(elsewhere), folder);
      },
    ],
  ])(
    'is refused if the folder of the manifest %s, and trusts no journal in it',
    async (_what, make) => {
      using node = new TestNode();
      const { stateFolder, config } = node.paths;
      const elsewhere = path.join(node.root, 'theirs');
      make(stateFolder, elsewhere);
      node.put(config, 'debug: true\n');
      const step = {
        item: { kind: 'file', path: config },
        to: { sha256: '0'.repeat(64), access: 'private' },
      };
      const journal = [{ format: 1, isProved: false, steps: [step] }, { begin: 0 }];
      const text = journal.map((line) => `${JSON.stringify(line)}\n`).join('');
      writeFileSync(path.join(stateFolder, 'journal.jsonl'), text);
      const found = node.snapshot();
      for (const action of [() => node.install(plainInstallation(node)), () => node.recover()])
        await expect(action()).rejects.toMatchObject({
          code: 'refused',
          message: expect.stringContaining(stateFolder) as unknown,
        });
      expect(node.snapshot()).toEqual(found);
    },
  );

  it('is refused if they can write to a folder that would be in the PATH', async () => {
    using node = new TestNode();
    const [element = ''] = node.paths.morePathElements;
    mkdirSync(element, { recursive: true });
    chmodSync(element, 0o777);
    const found = node.snapshot();
    const end = await node.install(plainInstallation(node));
    expect(end).toMatchObject({ outcome: 'refused' });
    expect(end).toHaveProperty('reason', expect.stringContaining(element));
    expect(node.snapshot()).toEqual(found);
  });

  it('creates the folders above one of the PATH, so that they cannot', async () => {
    using node = new TestNode();
    const dataFolder = path.join(node.root, 'system', 'data');
    const paths = {
      ...node.paths,
      dataFolder,
      connectionInfo: path.join(dataFolder, 'rancher2_connection_info.json'),
      workFolder: path.join(dataFolder, 'work'),
      appliedFolder: path.join(dataFolder, 'x'),
    };
    const [element = ''] = paths.morePathElements;
    expect(existsSync(path.dirname(path.dirname(element)))).toBe(false);
    const end = await node.install({ ...plainInstallation(node), paths });
    expect(end).toEqual({ outcome: 'installed' });
    expect(existsSync(path.dirname(path.dirname(element)))).toBe(true);
    // The installer does not create this folder: rke2 does, and chooses its access.
    expect(existsSync(path.dirname(element))).toBe(false);
  });

  it('shows no digest of a value that they could guess', async () => {
    using node = new TestNode();
    const value = 'http://user:1234@proxy';
    const desired = plainInstallation(node, { environment: { HTTPS_PROXY: new Secret(value) } });
    const plan = planInstall(await node.facts(desired), desired, editConfig) as StepPlan;
    const lines = describePlan(plan);
    expect(lines).toContainEqual(expect.stringMatching(/make variable rancher-wins HTTPS_PROXY$/));
    expect(lines.join('\n')).not.toContain(createHash('sha256').update(value).digest('hex'));
  });
});

describe('what could not be read again', () => {
  it.each<[string, (node: TestNode) => Partial<DesiredInstallation>]>([
    [
      'more certificates than a journal has steps',
      () => ({ authorities: manyCertificates(1001), trustMachineStore: true }),
    ],
    [
      'a list of exceptions that is longer than a value',
      () => ({ winHttpProxy: { proxy: 'proxy:3128', bypass: '*.a;'.repeat(9000) } }),
    ],
  ])('is not begun: %s', async (_what, more) => {
    using node = new TestNode();
    const found = node.snapshot();
    await expect(node.install(plainInstallation(node, more(node)))).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('wanted at most 1000 items') as unknown,
    });
    expect(node.snapshot()).toEqual(found);
    await expect(node.install(plainInstallation(node))).resolves.toEqual({ outcome: 'installed' });
  });
});

describe('taking an installation away beside other users', () => {
  /** Replaces the parent of the data folder with a link to another user's folder. */
  function lead(node: TestNode): string {
    const above = path.dirname(node.paths.dataFolder);
    const theirs = path.join(node.root, 'theirs');
    const precious = path.join(theirs, path.basename(node.paths.dataFolder), 'work', 'precious');
    mkdirSync(path.dirname(precious), { recursive: true });
    writeFileSync(precious, 'x');
    renameSync(above, `${above}.moved`);
    symlinkSync(theirs, above);
    return precious;
  }

  it('removes nothing behind a link on the way, and says which', async () => {
    using node = new TestNode();
    await node.install(plainInstallation(node));
    const precious = lead(node);
    const end = await node.uninstall(plainInstallation(node), { isForced: true });
    expect(end).toMatchObject({
      kind: 'refusal',
      reason: expect.stringContaining('others could change') as unknown,
    });
    const above = path.dirname(node.paths.dataFolder);
    expect(end).toHaveProperty(
      'reason',
      expect.stringContaining(`"${above}": it is a symbolic link`),
    );
    expect([existsSync(precious), node.running.has('rancher-wins')]).toEqual([true, true]);
  });

  it('is refused if they could replace a folder by changing one above it', async () => {
    using node = new TestNode();
    await node.install(plainInstallation(node));
    const above = path.dirname(path.dirname(node.paths.configFolder));
    chmodSync(above, 0o777);
    const end = await node.uninstall(plainInstallation(node), { isForced: true });
    expect(end).toMatchObject({
      kind: 'refusal',
      reason: expect.stringContaining('others could change') as unknown,
    });
    expect(end).toHaveProperty('reason', expect.stringContaining(`"${above}": `));
    expect(node.running.has('rancher-wins')).toBe(true);
  });

  it('removes nothing below a folder that became theirs while the service was stopped', async () => {
    using node = new TestNode();
    await node.install(plainInstallation(node));
    const { config, configFolder } = node.paths;
    const runner = {
      ...node.runner,
      stop: (name: string) => {
        chmodSync(path.dirname(path.dirname(configFolder)), 0o777);
        return node.runner.stop(name);
      },
    };
    const report = await node.uninstall(plainInstallation(node), { isForced: true }, undefined, {
      runner,
    });
    expect(report).toHaveProperty('failed.0.reason', expect.stringContaining('can write to it'));
    expect(existsSync(config)).toBe(true);
  });

  it('removes nothing behind a link that appeared while the service was stopped', async () => {
    using node = new TestNode();
    await node.install(plainInstallation(node));
    let precious = '';
    const runner = {
      ...node.runner,
      stop: (name: string) => {
        precious = lead(node);
        return node.runner.stop(name);
      },
    };
    const report = await node.uninstall(plainInstallation(node), { isForced: true }, undefined, {
      runner,
    });
    const left = path.join(node.paths.dataFolder, 'work');
    expect(report).toHaveProperty(
      'failed',
      expect.arrayContaining([
        expect.objectContaining({
          entry: expect.objectContaining({
            item: { kind: 'folder', path: left, isData: true },
          }) as unknown,
          reason: expect.stringContaining('it is a symbolic link') as unknown,
        }),
      ]),
    );
    expect(existsSync(precious)).toBe(true);
  });
});

function manyCertificates(count: number): string {
  const authority = createCertificateAuthority('authority');
  return Array.from({ length: count }, (_, index) => authority.issue(String(index)).cert).join('');
}

function mkdirAll(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}
