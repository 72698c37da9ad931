import { installPaths, settingsFromEnvironment } from '@wins/installation';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { joinedEnvironment, rememberJoined } from './joined-before.js';

describe('the environment of a node that joins again', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'joined-'));
  const paths = installPaths(process.platform, { root });
  const SERVER = { CATTLE_SERVER: 'https://rancher.example.com', CATTLE_TOKEN: 'token' };

  beforeAll(() => {
    for (const folder of [paths.configFolder, paths.appliedFolder])
      mkdirSync(folder, { recursive: true });
    writeFileSync(paths.nodeId, 'abc\n');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  async function again(first: NodeJS.ProcessEnv, then: NodeJS.ProcessEnv) {
    await rememberJoined(paths, settingsFromEnvironment({ ...SERVER, ...first }));
    const environment = await joinedEnvironment(paths, { CATTLE_TOKEN: 'other', ...then });
    return settingsFromEnvironment(environment);
  }

  it('removes a proxy whose variable is empty, as at the first join', async () => {
    const { proxies } = await again({}, { HTTPS_PROXY: '' });
    expect(proxies).toEqual({ HTTPS_PROXY: null });
  });

  it('has the values of the last join for variables that are empty or not set', async () => {
    const first = { CATTLE_NODE_NAME: 'one', CATTLE_PRESERVE_WORKDIR: 'true' };
    const settings = await again(first, { CATTLE_SERVER: '', cattle_node_name: '' });
    expect(settings).toMatchObject({
      server: 'https://rancher.example.com',
      nodeName: 'one',
      preservesWorkDirectory: true,
    });
  });
});
