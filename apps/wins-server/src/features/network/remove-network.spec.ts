import { ConfigHistory } from '@wins/config';
import { linuxHostRoutes } from '@wins/linux-host';
import { posixFileTrust } from '@wins/trusted-files';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stateDirectoryOf } from '../../kept-directory.js';
import { recordFileIn } from './network-settings.js';
import { removeNetwork } from './remove-network.js';

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('taking the network of the host away', () => {
  let folder: string;
  let config: string;
  let record: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-network-'));
    config = path.join(folder, 'config');
    const listen = path.join(folder, 'pipe');
    writeFileSync(config, JSON.stringify({ listen }), { mode: 0o600 });
    const state = stateDirectoryOf(listen);
    mkdirSync(state, { mode: 0o700 });
    record = recordFileIn(state);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('loads nothing where nothing was made', async () => {
    const load = () => {
      throw new Error('it was loaded');
    };
    expect(await removeNetwork(config, load)).toBeUndefined();
  });

  it('removes what the record has, and the record', async () => {
    const boot = linuxHostRoutes().bootMark();
    const route = { destination: '198.18.0.0/16', gateway: '', interface: 'gone0', metric: 9 };
    const routes = [{ route, state: 'applied' }];
    writeFileSync(record, JSON.stringify({ format: 1, boot, routes }), { mode: 0o600 });
    expect(await removeNetwork(config)).toBeUndefined();
    expect(existsSync(record)).toBe(false);
  });

  it('finds the record of a daemon that served an earlier config, because the file is invalid', async () => {
    writeFileSync(record, JSON.stringify({ format: 1, boot: '', routes: [] }), { mode: 0o600 });
    await new ConfigHistory(config, posixFileTrust()).add('served', readFileSync(config));
    writeFileSync(config, '{');
    expect(await removeNetwork(config)).toBeUndefined();
    expect(existsSync(record)).toBe(false);
  });

  it('says what stays', async () => {
    writeFileSync(record, '');
    const problems = ['wins-subnet: 2 containers are attached'];
    const started = {
      kept: { teardown: () => Promise.resolve({ problems }) },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const load = () => Promise.resolve({ startNetwork: () => Promise.resolve(started) });
    expect(await removeNetwork(config, load as never)).toBe(
      'wins-subnet: 2 containers are attached',
    );
  });
});
