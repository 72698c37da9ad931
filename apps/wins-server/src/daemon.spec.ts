import { loadConfig } from '@wins/config';
import { createProcessManager } from '@wins/process-manager';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDaemon } from './daemon.js';
import { hostSystem } from './host-system/select-host-system.js';
import { createLoggerTo } from './logger.js';

describe('a daemon with a firewall that hangs', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-daemon-'));
  const { WINS_RUNTIME_DIR: before } = process.env;

  beforeAll(() => {
    process.env['WINS_RUNTIME_DIR'] = path.join(folder, 'run');
  });
  afterAll(() => {
    if (before === undefined) delete process.env['WINS_RUNTIME_DIR'];
    else process.env['WINS_RUNTIME_DIR'] = before;
    rmSync(folder, { recursive: true });
  });

  it('serves and closes all the same', async () => {
    const loaded = await loadConfig(path.join(folder, 'no-config'));
    const manager = createProcessManager({
      allowed: [],
      stateDirectory: path.join(folder, 'state'),
    });
    const hanging = jest.fn(() => new Promise<never>(() => undefined));
    const daemon = await startDaemon({
      loaded,
      manager,
      system: { portOpener: { open: hanging, close: hanging, sweep: hanging } },
      hostSystem: hostSystem(process.platform),
      logger: createLoggerTo({ debug: false, quiet: true }, { write: () => undefined }),
      checksum: Promise.resolve(''),
    });
    expect(hanging).toHaveBeenCalledTimes(1);
    await daemon.close();
  });
});
