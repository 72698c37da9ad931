import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createCertificateAuthority } from '@wins/base/testing';
import { readFacts, readItems } from '../facts/read-facts.js';
import { itemId } from '../item/item.js';
import { planAdopt, planInstall } from '../plan/plan-install.js';
import { planUninstall } from '../plan/plan-uninstall.js';
import { editConfig, plainInstallation, TestNode, type Fault } from '../testing/node-harness.js';
import type { DesiredInstallation } from '../desired/desired-installation.js';
import { Secret } from '../desired/secret.js';
import type { Around } from '../install-context.js';
import { adopt, applyPlan } from './apply-plan.js';
import { uninstall } from './uninstall.js';

const { cert: CERTIFICATE } = createCertificateAuthority('authority');

function fullInstallation(node: TestNode): DesiredInstallation {
  return plainInstallation(node, {
    authorities: CERTIFICATE,
    trustMachineStore: true,
    nodeId: 'abc',
    connectionInfo: new Secret('{}'),
    environment: { HTTPS_PROXY: new Secret('p') },
    winHttpProxy: { proxy: 'p:3128', bypass: '' },
  });
}

const STRIDE = process.env['WINS_TEST_TIER'] === 'long' ? 1 : 4;

describe('taking an installation away', () => {
  it('leaves an empty node as it was, byte for byte; a second time there is nothing to do', async () => {
    using node = new TestNode();
    const found = node.snapshot();
    await node.install(fullInstallation(node));
    expect(node.snapshot()).not.toEqual(found);
    await expect(node.uninstall(fullInstallation(node))).resolves.toEqual({ kept: [], failed: [] });
    expect(node.snapshot()).toEqual(found);
    await expect(node.uninstall(fullInstallation(node))).resolves.toMatchObject({
      kind: 'nothing',
    });
  });

  it('removes what was made by an upgrade too, and what the daemon wrote into its own folders', async () => {
    using node = new TestNode();
    const found = node.snapshot();
    await node.install(fullInstallation(node));
    await node.install({
      ...fullInstallation(node),
      program: node.program('v1.2.0'),
      config: { debug: true },
    });
    node.put(path.join(node.paths.workFolder, 'plan', 'x'), 'y');
    // Replaces the program as `wins up` does, without changing the manifest.
    writeFileSync(node.paths.program, '#!/bin/sh\necho v1.3.0\n');
    await expect(node.uninstall(fullInstallation(node))).resolves.toEqual({ kept: [], failed: [] });
    expect(node.snapshot()).toEqual(found);
  });

  it('leaves what is still wanted, and its service running; the next one removes that too', async () => {
    using node = new TestNode();
    const found = node.snapshot();
    const installation = fullInstallation(node);
    await node.install(installation);
    const { service, paths } = installation;
    const { context } = node.context();
    const wanted = new Set([
      itemId({ kind: 'service', name: service }),
      itemId({ kind: 'file', path: paths.program }),
    ]);
    const items = await readItems(context, [{ kind: 'running', service }]);
    const plan = planUninstall(items, { service, programs: [paths.program], wanted });
    if (plan.kind !== 'uninstall') throw new Error(plan.reason);
    expect(plan.steps.map(({ item }) => item.kind)).not.toContain('running');
    const { failed } = await uninstall(context, plan);
    expect(failed).toEqual([]);
    expect([...node.running]).toEqual([service]);
    expect([existsSync(paths.program), existsSync(paths.nodeId)]).toEqual([true, false]);
    await expect(node.uninstall(installation)).resolves.toEqual({ kept: [], failed: [] });
    expect(node.snapshot()).toEqual(found);
  });

  it('keeps and reports items that were changed by hand, and with force removes them too', async () => {
    using node = new TestNode();
    const found = node.snapshot();
    await node.install(fullInstallation(node));
    writeFileSync(node.paths.config, 'by hand');
    const report = await node.uninstall(fullInstallation(node));
    expect(report).toMatchObject({ failed: [] });
    expect(report).toHaveProperty('kept.0.reason', 'it was changed after the installation');
    expect(readFileSync(node.paths.config, 'utf8')).toBe('by hand');
    expect(node.running.size).toBe(0);
    await expect(node.uninstall(fullInstallation(node))).resolves.toMatchObject({
      kind: 'nothing',
    });
    await node.uninstall(fullInstallation(node), { isForced: true });
    expect(node.snapshot()).toEqual(found);
  });

  it('keeps what was there before, such as changed files, a shared folder and its PATH', async () => {
    using node = new TestNode();
    node.put(node.paths.config, 'debug: true\n');
    node.put(path.join(node.paths.programFolder, 'other'), 'x', 0o755);
    await node.install({ ...fullInstallation(node), config: { debug: null } });
    const report = await node.uninstall(fullInstallation(node));
    expect(report).toHaveProperty('kept.0.reason', 'it existed before, with other content');
    expect(existsSync(path.join(node.paths.programFolder, 'other'))).toBe(true);
    expect(node.host().system.things).toEqual({});
  });

  it('removes a file that an installation removed and a later one wrote, although the end of the removal was repeated', async () => {
    using node = new TestNode();
    const found = node.snapshot();
    await node.install(fullInstallation(node));
    const { context } = node.context();
    const left = { ...fullInstallation(node), connectionInfo: null, winHttpProxy: null };
    const plan = planInstall(await readFacts(context, left), left, editConfig);
    if (plan.kind !== 'steps') throw new Error('there is nothing to do');
    let isRecorded = false;
    const around: Around = (effect, action) => {
      if (isRecorded) return Promise.reject(new Error('EBUSY: made up'));
      isRecorded = effect === 'write manifest';
      return action();
    };
    await expect(applyPlan({ ...context, around }, plan)).rejects.toMatchObject({
      code: 'stepFailed',
    });
    expect(await node.recover()).toBe('finished');
    await node.install(fullInstallation(node));
    await expect(node.uninstall(fullInstallation(node))).resolves.toEqual({ kept: [], failed: [] });
    expect(node.snapshot()).toEqual(found);
  });

  it('keeps data when it is told to, and removes the programs', async () => {
    using node = new TestNode();
    await node.install(fullInstallation(node));
    await node.uninstall(fullInstallation(node), { keepsData: true });
    expect(existsSync(node.paths.nodeId)).toBe(true);
    expect(existsSync(node.paths.program)).toBe(false);
    expect(node.host().system.services).toEqual({});
  });

  it('is refused while rke2 runs; when it does not, its dependency goes too', async () => {
    using node = new TestNode();
    const { stores } = node.host();
    await stores.service.write(
      { kind: 'service', name: 'rke2' },
      { command: '"/rke2"', startType: 'manual' },
      undefined,
    );
    await node.install({ ...fullInstallation(node), isRke2Dependent: true });
    node.running.add('rke2');
    await expect(node.uninstall(fullInstallation(node))).resolves.toMatchObject({
      kind: 'refusal',
      reason: expect.stringContaining('is running and depends on wins') as unknown,
    });
    expect(node.running.has('rancher-wins')).toBe(true);
    node.running.delete('rke2');
    await node.uninstall(fullInstallation(node));
    expect(node.host().system.services['rke2']?.dependencies).toEqual([]);
  });

  it('that dies at any effect, or that the disk refuses, is gone on with by the next run', async () => {
    for (const fault of ['after', 'EIO'] as const) {
      for (let at = 1, isOver = false; !isOver; at += STRIDE) {
        using node = new TestNode();
        const found = node.snapshot();
        await node.install(fullInstallation(node));
        await node
          .uninstall(fullInstallation(node), {}, new Map([[at, fault as Fault]]))
          .catch(() => undefined);
        isOver = at > node.effects.length;
        await node.recover();
        await node.uninstall(fullInstallation(node));
        expect({ fault, at, now: node.snapshot() }).toEqual({ fault, at, now: found });
      }
    }
  });

  it('works for what another installer made, once that is taken over', async () => {
    using node = new TestNode();
    const { paths } = node;
    node.put(paths.config, 'systemagent:\n');
    node.put(paths.nodeId, 'abc\r\n');
    node.put(paths.program, '#!/bin/sh\necho v0.5.5\n', 0o755);
    mkdirSync(paths.dataFolder, { recursive: true });
    node.put(paths.connectionInfo, '{}');
    const { stores } = node.host();
    const command = `"${paths.program}" srv app run`;
    const service = { kind: 'service', name: 'rancher-wins' } as const;
    await stores.service.write(service, { command, startType: 'automatic' }, undefined);
    await stores.pathElement.write(
      { kind: 'pathElement', path: paths.programFolder },
      'present',
      undefined,
    );
    node.running.add('rancher-wins');
    const desired = plainInstallation(node);
    await expect(node.uninstall(desired)).resolves.toMatchObject({
      kind: 'refusal',
      reason: expect.stringContaining('but has no manifest') as unknown,
    });

    const { context } = node.context();
    const plan = planAdopt(await readFacts(context, desired), desired);
    if (plan.kind !== 'adopt') throw new Error(plan.reason);
    await adopt(context, plan);
    expect(planAdopt(await readFacts(context, desired), desired).kind).toBe('nothing');
    await expect(node.uninstall(desired)).resolves.toEqual({ kept: [], failed: [] });
    for (const gone of [paths.configFolder, paths.dataFolder, paths.program, paths.stateFolder]) {
      expect(existsSync(gone)).toBe(false);
    }
    expect(existsSync(paths.programFolder)).toBe(true);
    expect(node.host().system).toMatchObject({ services: {} });
  });
});
