import { startApiServer, type ApiServer } from '@wins/system-agent/testing';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { base64, PlanNode, wellComponent } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

/** Creates an image archive whose outer tar and layer both have the format of Unix Version 7. */
function oldArchive(node: PlanNode, name: string, script: string): void {
  const folder = node.workspace.path('v7');
  const pack = (file: string) =>
    execFileSync('tar', ['--format=v7', '-cf', file, '-C', folder, '.']);
  mkdirSync(folder);
  writeFileSync(`${folder}/run.sh`, script, { mode: 0o755 });
  const layer = node.workspace.path('layer');
  pack(layer);
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  const digest = createHash('sha256').update(readFileSync(layer)).digest('hex');
  const manifest = [{ Config: 'config', RepoTags: [name], Layers: ['layer'] }];
  writeFileSync(`${folder}/config`, JSON.stringify({ rootfs: { diff_ids: [`sha256:${digest}`] } }));
  writeFileSync(`${folder}/manifest.json`, JSON.stringify(manifest));
  writeFileSync(`${folder}/layer`, readFileSync(layer));
  mkdirSync(`${node.home}/images`, { recursive: true, mode: 0o700 });
  pack(`${node.home}/images/img.tar`);
}

describe('a node whose plan uses rare features', () => {
  let api: ApiServer;
  let node: PlanNode;
  beforeAll(async () => {
    api = await startApiServer();
    node = new PlanNode();
    oldArchive(node, 'some/img:v1', '#!/bin/sh\necho from an old tar\n');
    const plan = {
      files: [
        {
          ...{ path: node.workspace.path('etc', 'file'), content: base64('x'), uid: -1, gid: -1 },
          ...{ dynamic: true, minor: true },
        },
      ],
      instructions: [
        { name: '__proto__', image: 'some/img:v1', saveOutput: true },
        {
          ...{ name: 'env', command: '/usr/bin/env', args: ['-0'], saveOutput: true },
          env: ['=odd=1', '$env:ODD="v"', 'OWN=2'],
        },
      ],
    };
    api.create({ plan: JSON.stringify(plan) });
    await node.start(node.remoteConfig(api));
    await until(() => String(api.data()['success-count']) === '1');
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await api.close();
  });

  const saved = (name: string): string => {
    const outputs = gunzipSync(Buffer.from(api.data()['applied-output'] ?? '')).toString();
    const [, output = ''] = new RegExp(`"${name}":"([^"]+)"`).exec(outputs) ?? [];
    return Buffer.from(output, 'base64').toString();
  };

  it('unpacks an image from tars of the seventh Unix, and saves an output under any name', () => {
    expect(saved('__proto__')).toBe('from an old tar\n');
  });

  it('passes environment entries unchanged, with the mark of the daemon', () => {
    const entries = saved('env').trim().split('\0');
    expect(entries).toEqual(expect.arrayContaining(['=odd=1', '$env:ODD="v"', 'OWN=2']));
    expect(entries.filter((entry) => entry.startsWith('RANCHER_WINS_RUN='))).toHaveLength(1);
  });

  it("accepts the keys with which Rancher's planner marks files", () => {
    expect(readFileSync(node.workspace.path('etc', 'file'), 'utf8')).toBe('x');
    expect(node.daemon.text).not.toContain('mean nothing');
  });

  it('restores a status that somebody removed', async () => {
    await using component = await wellComponent();
    const probes = { component: { httpGet: { url: component.url } } };
    api.update({ plan: JSON.stringify({ probes }) });
    const isWell = () => String(api.data()['probe-statuses'] ?? '').includes('healthy');
    await until(isWell);
    api.update({ 'probe-statuses': undefined, 'applied-periodic-output': undefined });
    await until(() => isWell() && api.data()['applied-periodic-output'] !== undefined);
  });
});

it('a plan that failed waits for its cool-down also after a restart of the daemon', async () => {
  await using node = new PlanNode();
  const api = await startApiServer();
  const command = node.workspace.script(
    'fails',
    `echo run >>${node.workspace.path('runs')}; exit 1`,
  );
  api.create({ plan: JSON.stringify({ instructions: [{ name: 'a', command }] }) });
  const config = node.remoteConfig(api);
  await node.start(config);
  await until(() => String(api.data()['failure-count']) === '1');
  await node.daemon[Symbol.asyncDispose]();
  await node.start(config);
  const state = async () => {
    const { sources } = await node.ask<{ sources: { state: string }[] }>('status');
    return sources[0]?.state;
  };
  while ((await state()) !== 'failed');
  expect(readFileSync(node.workspace.path('runs'), 'utf8')).toBe('run\n');
  await node[Symbol.asyncDispose]();
  await api.close();
});

it('an agent on Windows accepts the paths of a cluster with Linux and Windows nodes', async () => {
  await using node = new PlanNode();
  const systemagent = {
    ...{ localEnabled: true, workDirectory: '/opt/rancher/agent/work' },
    ...{ appliedPlanDirectory: '/opt/rancher/agent/applied', localPlanDirectory: '/etc/plans' },
    ...{ imagesDirectory: '/opt/images', agentRegistriesFile: '/etc/r.yaml' },
    imageCredentialProviderConfig: '/etc/providers.yaml',
    imageCredentialProviderBinDirectory: '/opt/bin',
  };
  const check = async (more: object) => {
    const config = node.workspace.config(['C:\\a.exe'], {
      systemagent: { ...systemagent, ...more },
    });
    const how = ['--platform', 'windows', '--content-only', '--config', config];
    const { code, stderr } = await node.wins('srv', 'config', 'check', ...how);
    return { code, stderr };
  };
  expect(await check({})).toEqual({ code: 0, stderr: '' });
  for (const key of ['workDirectory', 'imagesDirectory', 'localPlanDirectory'])
    expect((await check({ [key]: 'opt/rancher' })).stderr).toContain(`systemagent.${key}: found`);
});
