/** @needs releases */
// Installs the packaged program on a node, joins a server, and uninstalls it again.
import { fileSecurity } from '@wins/windows-host';
import { parseSecurityDescriptor } from '@wins/base';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { layOutAsGoScript } from './go-layout-on-windows.js';
import {
  CSI_PROXY,
  NAME,
  NodeOnWindows,
  PATHS,
  TOKEN,
  type NodeReport,
} from './node-on-windows.js';
import { until } from './windows-workspace.js';

const ADMINISTRATORS = 'S-1-5-32-544';
const SYSTEM = 'S-1-5-18';
const EVERYONE = 'S-1-1-0';
const MANIFEST = path.join(PATHS.stateFolder, 'install-manifest.json');
const EXPANDED = '%SystemRoot%\\system32;%SystemRoot%;C:\\other tool\\bin';

/** Folders that an adopted installation shares with other programs. */
const SHARED = new Set(['C:\\etc', 'C:\\usr', 'C:\\var']);

function accountsOf(file: string): string[] {
  const { entries = [] } = parseSecurityDescriptor(fileSecurity(file));
  return [...new Set(entries.map(({ sid }) => sid))].sort();
}

function assertOutcome({ code, outcome, reason, kept }: NodeReport, wanted: string): void {
  assert.deepEqual([code, outcome, kept], [0, wanted, []], reason);
}

describe('a node of Windows', () => {
  let node: NodeOnWindows;
  let pathBefore: unknown;
  before(async () => {
    node = await NodeOnWindows.start();
    pathBefore = node.machinePath.value;
    node.writeMachinePath(EXPANDED);
  });
  after(async () => {
    await node[Symbol.asyncDispose]();
    node.writeMachinePath(String(pathBefore));
  });

  it('gets a plan in a dry run, and is not touched', async () => {
    // A Linux path, because one setting may apply to all nodes of a cluster.
    const ofCluster = { CATTLE_AGENT_VAR_DIR: '/opt/rancher/agent' };
    const elsewhere = await node.wins('v1.0.0', ['install', '--dry-run'], ofCluster);
    assertOutcome(elsewhere, 'planned');
    assert.match(elsewhere.steps.join('\n'), /[A-Z]:\\opt\\rancher\\agent/);
    assert.deepEqual(node.traces, []);
  });

  it('is installed: a service that serves, files for administrators alone, PATH, source of events', async () => {
    const proxies = {
      HTTPS_PROXY: `http://user:${TOKEN}@proxy.invalid:3128`,
      NO_PROXY: '127.0.0.1',
    };
    const isDelayed = node.keeps.delayedStart;
    const args = ['install', ...(isDelayed ? ['--delayed-start'] : [])];
    assertOutcome(await node.wins('v1.0.0', args, { ...proxies, OTHER_PROXY: 'x' }), 'installed');
    assert.equal(await node.version(), 'v1.0.0');
    const { commandLine, startType } = node.services.config(NAME);
    assert.equal(commandLine, `"${PATHS.program}" srv app run --config "${PATHS.config}"`);
    assert.equal(startType, isDelayed ? 'delayed' : 'automatic');
    assert.deepEqual(node.serviceEnvironment, {
      type: 'texts',
      value: Object.entries(proxies).map(([name, value]) => `${name}=${value}`),
    });
    assert.equal(node.hasEventSource, true);
    assert.deepEqual(node.machinePath, {
      type: 'expandable-text',
      value: [EXPANDED, PATHS.programFolder, ...PATHS.morePathElements].join(';'),
    });
    assert.deepEqual(node.filesWith(TOKEN), []);
  });

  it('has access lists that let others at most read', () => {
    const { configFolder, dataFolder, workFolder, appliedFolder, stateFolder, config } = PATHS;
    assert.equal(existsSync(MANIFEST), true);
    const folders = [configFolder, dataFolder, workFolder, appliedFolder, stateFolder];
    for (const closed of [...folders, config]) {
      const accounts = accountsOf(closed);
      assert.ok(accounts.includes(ADMINISTRATORS) || accounts.includes(SYSTEM), closed);
      assert.equal(accounts.includes(EVERYONE), false, closed);
    }
    assert.equal(accountsOf(PATHS.program).includes(EVERYONE), true);
  });

  it('joins a server, and its agent reaches it', async () => {
    assertOutcome(await node.wins('v1.0.0', ['join', '--worker'], node.joining), 'installed');
    const info = readFileSync(PATHS.connectionInfo, 'utf8');
    assert.deepEqual(JSON.parse(info), JSON.parse(node.api.connectionInfo()));
    assert.equal(accountsOf(PATHS.connectionInfo).includes(EVERYONE), false);
    assert.equal(readFileSync(PATHS.authorities, 'utf8').trim(), node.rancher.ca.trim());
    const id = readFileSync(PATHS.nodeId, 'utf8').trim();
    const asked = node.rancher.requests.find(({ path: url }) => url === '/v3/connect/agent');
    assert.equal(asked?.headers['x-cattle-id'], id);
    assert.ok(node.api.requests.length > 0);
  });

  it('is restarted by suc only for what the daemon has to read again, and then once', async () => {
    const { pid } = node;
    assertOutcome(await node.wins('v1.0.0', ['suc'], node.joining), 'nothing');
    assert.equal(node.pid, pid);
    if (node.keeps.delayedStart) {
      const start = { CATTLE_ENABLE_WINS_DELAYED_START: 'false' };
      assertOutcome(await node.wins('v1.0.0', ['suc'], start), 'installed');
      assert.equal(node.services.config(NAME).startType, 'automatic');
      assert.equal(node.pid, pid);
    }
    const report = await node.wins('v1.0.0', ['suc'], { CATTLE_WINS_DEBUG: 'true' });
    assertOutcome(report, 'installed');
    assert.equal(report.steps.filter((step) => /\bstart\b/.test(step)).length, 1);
    assert.notEqual(node.pid, pid);
    assert.match(readFileSync(PATHS.config, 'utf8'), /debug: true/);
  });

  it('gets another release by suc', async () => {
    const environment = ['MINE=stays', 'NO_PROXY=127.0.0.1'];
    node.writeServiceEnvironment(environment);
    assertOutcome(await node.wins('v1.1.0', ['suc'], node.joining), 'installed');
    assert.equal(await node.version(), 'v1.1.0');
    assert.deepEqual(node.serviceEnvironment?.value, environment);
    assert.equal(node.services.config(NAME).startType, 'automatic');
  });

  it('leaves: it follows no server, and what is installed stays', async () => {
    assertOutcome(await node.wins(PATHS.program, ['leave']), 'left');
    for (const gone of [PATHS.connectionInfo, PATHS.nodeId, PATHS.authorities])
      assert.equal(existsSync(gone), false, gone);
    assert.equal(await node.version(), 'v1.1.0');
    assert.deepEqual(node.filesWith(node.api.token), []);
  });

  it('is not uninstalled while rke2 runs', async () => {
    await node.startRke2();
    const { code, outcome, reason } = await node.wins(PATHS.program, ['uninstall']);
    assert.deepEqual([code, outcome], [65, 'refused'], reason);
    assert.match(reason, /rke2 is running/);
    assert.equal(await node.version(), 'v1.1.0');
    await node.removeService('rke2');
  });

  it('is uninstalled by its own program, and nothing stays', async () => {
    assertOutcome(await node.wins(PATHS.program, ['uninstall']), 'uninstalled');
    assert.deepEqual(node.traces, []);
    assert.deepEqual(node.machinePath, { type: 'expandable-text', value: EXPANDED });
    await until(() => node.movedPrograms.length === 0);
  });

  it('that the Go script made is taken over, and uninstalled', async () => {
    await layOutAsGoScript(node);
    assertOutcome(await node.wins('v1.1.0', ['install', '--adopt']), 'adopted');
    assert.equal(await node.version(), 'v1.0.0');
    const gone = await node.wins('v1.1.0', ['uninstall']);
    assertOutcome(gone, 'uninstalled');
    assert.deepEqual([node.isService('csiproxy'), existsSync(CSI_PROXY)], [false, false]);
    assert.equal(node.machinePath.value, EXPANDED);
    assert.deepEqual(
      node.traces.filter((each) => !SHARED.has(each)),
      [],
    );
  });

  it('has told the token to no one', () => {
    for (const secret of [TOKEN, node.api.token])
      assert.equal(node.printed.includes(secret), false);
  });
});
