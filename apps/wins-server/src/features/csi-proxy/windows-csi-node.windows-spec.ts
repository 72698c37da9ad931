// This file is longer than most because it has two roles. It contains the tests, and it is the script of the csi-proxy that the tests install.
import type { CsiProxyNode } from './csi-proxy-system.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';
import { keepCsiProxy, type KeptCsiProxy } from './start-csi-proxy.js';
import { archiveOf } from './testing/archive-of.js';
import { memoryDownload } from './testing/memory-download.js';
import { quickClock } from './testing/quick-clock.js';
import {
  isRunning,
  processIdentity,
  runAsService,
  serviceControlManager,
  windowsCommandLine,
  windowsFileTrust,
  type ProcessIdentity,
} from '@wins/windows-host';
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { windowsCsiNode } from './windows-csi-node.js';

/** If this word is in the command line, this file acts as csi-proxy. The path of the program selects the behaviour. */
const ROLE = 'be-csi-proxy';
const NAME = 'csiproxy';
const SERVICE = { kind: 'service', name: NAME } as const;
const RUNNING = { kind: 'running', service: NAME } as const;
const PIPE = '\\\\.\\pipe\\csi-proxy-filesystem-v1';

/** On a stop request, reports a stop but keeps serving the pipe, like csi-proxy. */
async function beCsiProxy(): Promise<void> {
  const program = process.execPath;
  const isDeaf = program.includes('v1.1.9');
  await runAsService({
    name: NAME,
    run: async (service) => {
      if (!isDeaf) {
        const server = createServer((socket) => {
          socket.on('error', () => undefined);
          socket.end(program);
        });
        await new Promise<void>((resolve) => server.listen(PIPE, resolve));
      }
      service.ready();
      await service.stopRequested;
      return 0;
    },
  });
  setInterval(() => undefined, 1e8);
}

function theSuite(): void {
  const services = serviceControlManager();
  const files = new Map<string, Buffer>();
  let folder = '';
  let kept: KeptCsiProxy;
  const warnings: string[] = [];
  const home = () => path.join(folder, 'csi-proxy');
  const adoptedProgram = () => path.join(folder, 'System32', 'csi-proxy.exe');
  let node: CsiProxyNode;
  const desired = (version: string): DesiredCsiProxy => ({
    url: `https://example.com/${version}`,
    version,
    folder: home(),
    trust: {},
    args: [__filename, ROLE],
  });
  const answer = (): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = '';
      const socket = connect(PIPE).setEncoding('utf8');
      socket.on('data', (part) => (text += String(part)));
      socket.on('error', reject).on('close', () => resolve(text));
    });
  const process_ = (): ProcessIdentity => {
    const found = processIdentity(services.status(NAME).pid);
    assert.ok(found);
    return found;
  };
  const serves = async (version: string | undefined): Promise<void> => {
    kept.want(version === undefined ? undefined : desired(version));
    const status = await kept.apply();
    assert.equal(
      status.state,
      version === undefined ? 'absent' : 'serving',
      JSON.stringify(status),
    );
    assert.deepEqual(warnings, []);
  };

  before(async () => {
    // Fail if the node has a real csi-proxy.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    folder = mkdtempSync(path.join(process.env['ProgramFiles'] ?? 'C:\\', 'wins csi '));
    const program = readFileSync(process.execPath);
    for (const version of ['v1.1.3', 'v1.2.0', 'v1.1.9'])
      files.set(
        desired(version).url,
        await archiveOf([
          { name: 'bin/csi-proxy.exe', content: Buffer.concat([program, Buffer.from(version)]) },
        ]),
      );
    node = { ...windowsCsiNode(300), adoptedProgram: adoptedProgram() };
    kept = keepCsiProxy(
      {
        stateFolder: home(),
        trust: windowsFileTrust(),
        clock: quickClock(3),
        downloadFor: () => memoryDownload(files),
        onDecision: () => Promise.resolve(),
        onStatus: () => undefined,
        onWarning: (message) => warnings.push(message),
      },
      undefined,
      node,
    );
  });
  after(async () => {
    await kept.close();
    if ((await node.stores.service.read(SERVICE)) !== undefined) {
      await node.stores.running.write(RUNNING, undefined, undefined);
      await node.stores.service.write(SERVICE, undefined, undefined);
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  describe('csi-proxy as a service of Windows', () => {
    it('is installed, and serves', async () => {
      await serves('v1.1.3');
      const { displayName, startType, account, commandLine } = services.config(NAME);
      assert.deepEqual(
        [displayName, startType, account],
        ['CSI Proxy', 'automatic', 'LocalSystem'],
      );
      const [first = ''] = readdirSync(home()).filter((name) => name.startsWith('v'));
      const program = path.join(home(), first, 'csi-proxy.exe');
      assert.ok(commandLine.startsWith(`"${program}" `), commandLine);
      assert.equal((await answer()).toLowerCase(), program.toLowerCase());
    });

    it('is upgraded, although the old process lives on when it has stopped', async () => {
      const old = process_();
      await serves('v1.2.0');
      assert.equal(isRunning(old), false);
      assert.match(await answer(), /v1\.2\.0-/);
      assert.equal(readdirSync(home()).filter((name) => name.startsWith('v')).length, 1);
    });

    it('is put back when the new one does not serve', async () => {
      kept.want(desired('v1.1.9'));
      const status = await kept.apply();
      assert.equal(status.failure?.code, 'notServing', JSON.stringify(status));
      assert.match(await answer(), /v1\.2\.0-/);
      await serves('v1.2.0');
    });

    it('is started again, also when its process outlives the service', async () => {
      const old = process_();
      await services.stop(NAME);
      assert.equal(isRunning(old), true);
      assert.equal(await node.isServing(), true);
      await serves('v1.2.0');
      assert.equal(isRunning(old), false);
      assert.match(await answer(), /v1\.2\.0-/);
    });

    it('is removed with each process of it', async () => {
      const old = process_();
      await serves(undefined);
      assert.equal(isRunning(old), false);
      assert.equal(await node.stores.service.read(SERVICE), undefined);
      assert.equal(await node.isServing(), false);
      assert.equal(existsSync(home()), false);
    });

    it('is taken over from the original, and its program removed', async () => {
      mkdirSync(path.dirname(adoptedProgram()));
      copyFileSync(process.execPath, adoptedProgram());
      const command = windowsCommandLine(adoptedProgram(), [__filename, ROLE]);
      const state = { command, startType: 'automatic' } as const;
      await node.stores.service.write(SERVICE, state, undefined);
      await node.stores.running.write(RUNNING, 'present', undefined);
      await serves('v1.1.3');
      assert.match(await answer(), /v1\.1\.3-/);
      assert.equal(existsSync(adoptedProgram()), false);
      await serves(undefined);
    });
  });
}

if (process.argv.includes(ROLE)) void beCsiProxy();
else theSuite();
