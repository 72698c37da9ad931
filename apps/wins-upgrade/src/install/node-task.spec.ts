import { installPaths } from '@wins/installation';
import { SERVICE_NAME } from '@wins/base';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { composeNode } from '../compose.js';
import '../testing/stand-ins.js';
import type { NodeParts } from '../node-of-system.js';
import { changeNode, removeNode, type NodeTask, type FeaturesOfDaemon } from './node-task.js';

const SERVICE = { kind: 'service', name: SERVICE_NAME } as const;
const RUNNING = { kind: 'running', service: SERVICE_NAME } as const;
const TASK: NodeTask = { isDryRun: false, proofs: [], signal: new AbortController().signal };
/** Runs, but serves no pipe. */
const PROGRAM = `#!/bin/sh
[ "$1" = --version ] && exec echo rancher-wins version v1.0.0
exec sleep 600
`;

let root: string;
let node: NodeParts;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-task-')));
  process.env['WINS_NODE_ROOT'] = root;
  const { system, upgrade, ...parts } = await composeNode(installPaths('linux'), {
    waitMs: 5_000,
    log: () => undefined,
  });
  node = { ...parts, system, upgrade: { ...upgrade, waitMs: 1 } };
  const { program, config, stateFolder } = node.paths;
  for (const folder of [path.dirname(program), path.dirname(config)])
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  writeFileSync(config, `listen: ${path.join(root, 'pipe')}\n`, { mode: 0o600 });
  const command = `"${program}" srv app run --config "${config}"`;
  await system.stores.service.write(SERVICE, { command, startType: 'automatic' }, undefined);
});

afterEach(async () => {
  await node.system.stores.running.write(RUNNING, undefined, undefined);
  delete process.env['WINS_NODE_ROOT'];
  rmSync(root, { recursive: true });
});

describe('a command about a node', () => {
  it('that undid an interrupted one and has nothing to do fails while the daemon does not answer', async () => {
    const steps = [{ item: RUNNING, from: 'present' }];
    const lines = [{ format: 1, isProved: true, steps }, { begin: 0 }];
    const journal = path.join(node.paths.stateFolder, 'journal.jsonl');
    writeFileSync(journal, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const desired = { paths: node.paths, service: SERVICE_NAME };
    const said = await changeNode(node, () => desired, 'keep', TASK);
    expect(said).toMatchObject({ outcome: 'failed', recovered: 'undone' });
    expect(said.reason).toContain('does not answer');
  });
});

describe('taking a node away', () => {
  const remove = (parts: NodeParts, removeFeatures: FeaturesOfDaemon['removeFeatures']) => {
    const { paths } = parts;
    const how = { adopts: true, removeFeatures };
    return removeNode(parts, { paths, service: SERVICE_NAME }, how, TASK);
  };

  it('tells that what features left stays when the daemon had not stopped for it', async () => {
    const { running } = node.system.stores;
    await running.write(RUNNING, 'present', undefined);
    let tries = 0;
    const write: typeof running.write = async (item, state, content) => {
      if (state === undefined && (tries += 1) === 1) throw new Error('it is busy');
      await running.write(item, state, content);
    };
    const stores = { ...node.system.stores, running: { ...running, write } };
    const system = { ...node.system, stores };
    const said = await remove({ ...node, system }, (_from, hindrance) =>
      Promise.resolve([`csi-proxy: ${hindrance}`]),
    );
    expect(said.outcome).toBe('uninstalled');
    expect(said.kept).toContainEqual(
      'csi-proxy: left in place because the daemon had not stopped: it is busy',
    );
  });

  it('goes on when what features left cannot be taken away, and tells why', async () => {
    await node.system.stores.running.write(RUNNING, 'present', undefined);
    const stays = ['csi-proxy: EBUSY: resource busy or locked', 'detached runs: they do not end'];
    const asked: unknown[] = [];
    const said = await remove(node, (...given) => {
      asked.push(given);
      return Promise.resolve(stays);
    });
    expect([said.outcome, said.kept]).toEqual(['uninstalled', stays]);
    const from = { configFile: node.paths.config, isAdopted: true, keepsData: false };
    expect(asked).toEqual([[from, undefined]]);
  });
});
