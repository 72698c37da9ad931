import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCsiProxy, judgeSettings, LinuxService } from '@wins/csi-proxy';
import { archiveOf, memoryDownload, quickClock, stubProgram } from '@wins/csi-proxy/testing';
import { posixFileTrust } from '@wins/trusted-files';

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
const url = 'https://example.com/csi-proxy-%s.tar.gz';
const section = { url, version: 'v1.1.3', kubeletPath: '/var/lib/kubelet' };
const place = { platform: 'linux', configFolder: folder } as const;

const refused = judgeSettings({ ...section, version: 'v2.0.0', url: 'https://%d' }, {}, place);
if ('faults' in refused) console.log(...refused.faults.map(({ keyPath }) => keyPath));

const judged = judgeSettings(section, {}, place);
if ('faults' in judged) throw new Error('the section is wrong');
// A program that serves, and lives on when it is asked to stop, in place of the real one.
const program = { name: 'bin/csi-proxy.exe', content: stubProgram({ mark: 'hello' }) };
const files = new Map([[judged.wish.url, await archiveOf([program])]]);
const service = new LinuxService(path.join(folder, 'service.json'));
const csiProxy = createCsiProxy(
  {
    stateFolder: path.join(folder, 'csi-proxy'),
    ...{ service, downloadFor: () => Promise.resolve(memoryDownload(files)) },
    ...{ trust: posixFileTrust(), clock: quickClock(), graceMs: 100 },
    programMagic: Buffer.from('#!'),
    // Resolves once it is recorded; then it happens.
    onAct: async (act) => console.log(act.kind),
    onEvent: (event) => event.kind === 'stateChanged' && console.log('-', event.state.kind),
  },
  judged.wish,
);
await csiProxy.apply();
csiProxy.want(undefined);
await csiProxy.apply();
await csiProxy.close();
await rm(folder, { recursive: true });
