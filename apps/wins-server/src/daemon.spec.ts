import type { PortOpener } from '@wins/base';
import { configFingerprint, loadConfig } from '@wins/config';
import { createWinsClient, RunExposeProtocol } from '@wins/wins-api';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDaemon } from './daemon.js';
import { runs } from './features/runs/feature.js';
import { createLoggerTo, LogLevel } from './kernel/log/logger.js';
import { posix } from './posix.js';

describe('a daemon', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-daemon-'));
  const program = path.join(folder, 'tool');
  const { WINS_RUNTIME_DIR: before } = process.env;

  beforeAll(() => {
    process.env['WINS_RUNTIME_DIR'] = path.join(folder, 'run');
  });
  afterAll(() => {
    if (before === undefined) delete process.env['WINS_RUNTIME_DIR'];
    else process.env['WINS_RUNTIME_DIR'] = before;
    rmSync(folder, { recursive: true });
  });

  const hanging = () => new Promise<never>(() => undefined);
  async function start(open: PortOpener['open'], more: Partial<PortOpener> = {}) {
    const file = path.join(folder, 'config');
    writeFileSync(file, `white_list: {processPaths: [${program}]}`, { mode: 0o600 });
    const portOpener = { open, close: () => Promise.resolve(), sweep: hanging, ...more };
    const logger = createLoggerTo({ debug: false, quiet: true }, { write: () => undefined });
    const daemon = await startDaemon({
      config: {
        named: file,
        refused: undefined,
        fingerprint: configFingerprint(file),
        loaded: await loadConfig(file),
      },
      system: {
        ...posix,
        daemonParts: (...given) => ({ ...posix.daemonParts(...given), portOpener }),
      },
      logger,
      level: new LogLevel(logger),
    });
    const events: string[] = [];
    daemon.kernel.events.subscribe((event) => {
      if (event.type === 'run') events.push(event.event.type);
    });
    return { daemon, events };
  }

  it('serves and closes while its firewall hangs', async () => {
    const { daemon } = await start(hanging);
    const client = createWinsClient({ address: daemon.address });
    await expect(client.runs.list()).resolves.toEqual([]);
    await client.close();
    await daemon.close();
  });

  it('starts no run while it ends what a command has left running', async () => {
    const source = '#!/bin/sh\n';
    writeFileSync(program, source, { mode: 0o755 });
    const { daemon } = await start(hanging);
    const running = daemon.kernel.of(runs).require();
    const { signal } = new AbortController();
    let pid = 0;
    const command = {
      file: '/bin/sh',
      args: ['-c', `trap '' TERM; sleep 1000 >&- 2>&- & echo $!`],
      env: { PATH: '/usr/bin:/bin' },
      directory: '/',
      onOutput: (_stream: string, bytes: Buffer) => (pid = Number(bytes)),
    };
    await running.commands.run(command, { signal });
    const closing = running.close();
    const sha256 = createHash('sha256').update(source).digest('hex');
    const request = { path: program, args: [], envs: [], sha256 };
    const started = running.manager.start({
      ...request,
      owner: { id: 'pipe:1', disconnected: signal },
    });
    await expect(started).rejects.toMatchObject({ code: 'shuttingDown' });
    process.kill(pid, 'SIGKILL');
    await closing;
    await daemon.close();
  });

  it('tells its client, and starts the run, where the firewall lets everything through', async () => {
    const source = '#!/bin/sh\n';
    writeFileSync(program, source, { mode: 0o755 });
    const whyNotNeeded = () => 'the firewall is off in every profile';
    const { daemon, events } = await start(hanging, { whyNotNeeded });
    const client = createWinsClient({ address: daemon.address });
    const warnings: string[] = [];
    await client.startProcess(
      {
        path: program,
        exposes: [{ port: 80, protocol: RunExposeProtocol.TCP }],
        checksumSha256: createHash('sha256').update(source).digest('hex'),
      },
      { onWarning: (text) => warnings.push(text) },
    );
    expect(warnings).toEqual(['no port was opened, because the firewall is off in every profile']);
    expect(events.slice(0, 2)).toEqual(['portsNotOpened', 'started']);
    await client.close();
    await daemon.close();
  });

  it('gives a start up that its client has cancelled', async () => {
    const source = '#!/bin/sh\n';
    writeFileSync(program, source, { mode: 0o755 });
    const cancelling = new AbortController();
    let givenUp: Promise<unknown> | undefined;
    const { daemon, events } = await start((_runId, _ports, { signal }) => {
      givenUp = once(signal, 'abort');
      cancelling.abort();
      return givenUp.then(() => signal.throwIfAborted());
    });
    const client = createWinsClient({ address: daemon.address });
    const request = {
      path: program,
      exposes: [{ port: 80, protocol: RunExposeProtocol.TCP }],
      checksumSha256: createHash('sha256').update(source).digest('hex'),
    };
    await expect(client.startProcess(request, { signal: cancelling.signal })).rejects.toMatchObject(
      { code: 'aborted' },
    );
    await givenUp;
    // The connection of the client is still open.
    await expect(client.runs.list()).resolves.toEqual([]);
    expect(events).toEqual(['startFailed']);
    await client.close();
    await daemon.close();
  });
});
