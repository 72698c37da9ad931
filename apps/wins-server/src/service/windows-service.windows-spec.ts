import { loadConfig } from '@wins/config';
import { serviceControlManager, signalEvent } from '@wins/windows-host';
import { SERVICE_NAME } from '@wins/base';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { stackDumpEvent } from '../features/diagnostics/write-stack-dump.js';
import { registerService, unregisterService } from '../commands/app-register.js';
import { serviceLogFolder } from '../kernel/log/windows-service-log.js';
import { runAsWindowsService } from './windows-service.js';

/** Acts as the service: reads the config with which it was registered, but serves nothing. */
async function beTheDaemon(): Promise<void> {
  const config = process.argv[process.argv.indexOf('--config') + 1] ?? '';
  process.env['ProgramData'] = path.dirname(config);
  const secureFolder = (folder: string): void => {
    if (existsSync(`${config}.refuse`)) throw new Error('found a folder that others may change');
    mkdirSync(folder, { recursive: true });
  };
  const exitCode = await runAsWindowsService(
    { debug: false, quiet: false, secureFolder },
    async ({ logger, shutdown, ready }) => {
      await loadConfig(config, { trust: { distrustOfFile: () => undefined } });
      logger.info({ argv: process.argv.slice(2) }, 'ready');
      ready();
      const request = await shutdown;
      if ('error' in request) {
        logger.fatal({ err: request.error }, 'stopping');
        return 70;
      }
      logger.info(request, 'stopping');
      // Keeps the process alive as a hanging daemon does, so that only `process.exit` ends it.
      setInterval(() => undefined, 1000);
      return 0;
    },
  );
  process.exit(exitCode ?? 3);
}

function theSuite(): void {
  const services = serviceControlManager();
  let folder = '';
  let config = '';
  let logFolder = '';
  const options = (more: object = {}) => ({ config, debug: false, quiet: false, ...more });
  const logged = (): Record<string, unknown>[] =>
    existsSync(logFolder)
      ? readdirSync(logFolder)
          .flatMap((name) => readFileSync(path.join(logFolder, name), 'utf8').split('\n'))
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      : [];

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'a service '));
    config = path.join(folder, 'wins config.yaml');
    logFolder = serviceLogFolder({ ProgramData: folder });
  });
  afterEach(async () => {
    await unregisterService();
    rmSync(logFolder, { recursive: true, force: true });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  describe('the daemon as a service', () => {
    it('writes no stacks into a folder that it has refused (A81)', async () => {
      writeFileSync(config, '');
      await registerService(options());
      const dump = (): void => signalEvent(stackDumpEvent(services.status(SERVICE_NAME).pid));
      await services.start(SERVICE_NAME);
      dump();
      await services.stop(SERVICE_NAME);
      rmSync(logFolder, { recursive: true });
      writeFileSync(`${config}.refuse`, '');
      try {
        await services.start(SERVICE_NAME);
        assert.throws(dump, { code: 'notFound' });
        const { win32ExitCode, serviceExitCode } = await services.stop(SERVICE_NAME);
        assert.deepEqual([win32ExitCode, serviceExitCode, existsSync(logFolder)], [0, 0, false]);
      } finally {
        rmSync(`${config}.refuse`);
      }
    });

    it('is none when a person starts it', async () => {
      const child = spawn(process.execPath, [__filename, 'srv', 'app', 'run']);
      assert.deepEqual(await once(child, 'exit'), [3, null]);
      assert.deepEqual(logged(), []);
    });
  });
}

if (process.argv[2] === 'srv') void beTheDaemon();
else theSuite();
