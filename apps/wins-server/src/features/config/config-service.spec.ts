import { parseConfig } from '@wins/config';
import { createProcessManager } from '@wins/process-manager';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { configServiceDefinition } from '@wins/wins-api/contract';
import { createHash } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClientIdentity } from '@wins/base';
import { allowedBy } from '../../configuration/allowed-executables.js';
import { ConfigInForce } from '../../kernel/config-in-force.js';
import { DaemonEvents } from '../../kernel/daemon-events.js';
import { FeatureSet } from '../../kernel/feature-set.js';
import type { Decision } from '../../kernel/audit/decision.js';
import { createLoggerTo, LogLevel } from '../../kernel/log/logger.js';
import { posixProcessHost } from '../../posix.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { createConfigService, type ConfigServiceParts } from './config-service.js';

describe('the service of the config', () => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-config-service-')));
  const TEXT = '#!/bin/sh\n';
  const tool = path.join(folder, 'tool');
  const pinned = path.join(folder, 'pinned');
  const file = path.join(folder, 'config');
  const digestOf = (content: string) => createHash('sha256').update(content).digest('hex');
  const sha256 = digestOf(TEXT);
  const text = `white_list:
  processPaths:
    - ${tool}
    - path: ${pinned}
      sha256: ${'ab'.repeat(32)}
    - path: ${folder}/theirs
      for: administrators
  proxyPorts: [1, 9796]
`;
  const loadedFrom = (source: string) => ({
    ...parseConfig(source, { fileName: file }),
    path: file,
    found: true,
    sha256: digestOf(source),
  });
  const atStart = loadedFrom(text);
  let onDisk = text;
  let isStopping = false;
  const logger = createLoggerTo({ debug: false, quiet: true }, { write: () => undefined });
  const configOf = () =>
    new ConfigInForce({
      start: { named: file, loaded: atStart, refused: undefined, fingerprint: 'none' },
      logger,
      events: new DaemonEvents(),
      audit: { note: () => undefined },
      features: () => new FeatureSet([], kernelOf()),
      onConfig: () => undefined,
    });
  let config = configOf();
  const reload: ConfigServiceParts['reload'] = () =>
    Promise.resolve().then(() => {
      if (isStopping) throw new Error('the daemon is stopping');
      const loaded = loadedFrom(onDisk);
      return { loaded, change: config.become(loaded) };
    });
  const decisions: unknown[] = [];
  const manager = createProcessManager({
    allowed: allowedBy(atStart.config),
    stateDirectory: path.join(folder, 'state'),
    host: posixProcessHost(),
    onDecision: (decision) => void decisions.push(decision),
  });

  beforeAll(() => {
    for (const program of [tool, pinned]) writeFileSync(program, TEXT, { mode: 0o755 });
  });
  beforeEach(() => {
    config = configOf();
    onDisk = text;
  });
  afterAll(async () => {
    await manager.close();
    rmSync(folder, { recursive: true });
  });

  const logged = { level: 'info' };
  const level = new LogLevel(logged);
  afterAll(() => level[Symbol.dispose]());
  const recorded: string[] = [];
  const audit = {
    decided: ({ action, name }: Decision) => {
      recorded.push(`${action} ${name}, at ${logged.level}`);
      return Promise.resolve();
    },
  };
  let lastSocket = 0;
  async function as<T>(
    client: ClientIdentity | undefined,
    ask: (daemon: WinsClient) => Promise<T>,
  ) {
    lastSocket += 1;
    const address = path.join(folder, `socket-${lastSocket}`);
    await using _calls = await serveCalls(
      address,
      (server, callers) =>
        server.addService(
          configServiceDefinition,
          createConfigService({
            config,
            reload,
            manager: () => manager,
            callers,
            logger,
            level,
            audit,
          }),
        ),
      undefined,
      client,
    );
    const daemon = createWinsClient({ address });
    try {
      return await ask(daemon);
    } finally {
      await daemon.close();
    }
  }

  it('tells an administrator by which entry in which line something is allowed', async () => {
    await as(ADMINISTRATOR, async ({ config: asked }) => {
      expect(await asked.explain({ path: tool, sha256 })).toMatchObject({
        allowed: true,
        code: '',
        reason: '',
        entry: { key: 'white_list.processPaths[0]', file: file, line: 3 },
      });
      const { reason } = await asked.explain({ path: pinned });
      expect(reason).toContain('pins digests');
      expect(await asked.explain({ port: 9796 })).toMatchObject({
        allowed: true,
        entry: { key: 'white_list.proxyPorts[1]', line: 8 },
      });
      expect(await asked.explain({ port: 9797 })).toMatchObject({
        allowed: false,
        code: 'port-not-listed',
        entry: { key: '', file: file, line: undefined },
        udp: { allowed: false, code: 'port-not-listed', entry: { key: '' } },
      });
    });
    expect(decisions).toEqual([]);
  });

  it('changes the log level for some time, and records that before it does', async () => {
    const { logLevel } = configServiceDefinition;
    await as(ADMINISTRATOR, async (daemon) => {
      const answer = await daemon.call(logLevel, { level: 'debug', seconds: 60 });
      expect([answer.level, logged.level]).toEqual(['debug', 'debug']);
      expect(Date.parse(answer.until)).toBeGreaterThan(Date.now());
      await daemon.call(logLevel, { level: 'default', seconds: 0 });
      expect(logged.level).toBe('info');
      for (const [wanted, seconds, found] of [
        ['debug', 0, '0 s; wanted more than 0 and at most 86400 s'],
        ['debug', 86_401, '86401 s; wanted'],
        ['silent', 60, 'the level "silent"; wanted one of'],
        ['\u001b[2J', 60, String.raw`the level "\u001b[2J"; wanted`],
      ] as const)
        await expect(daemon.call(logLevel, { level: wanted, seconds })).rejects.toMatchObject({
          reason: 'invalidArgument',
          message: expect.stringContaining(`cannot change the log: found ${found}`) as string,
        });
    });
    expect(recorded.splice(0)).toEqual([
      'debugLogLevel debug, at info',
      'debugLogLevel default, at debug',
    ]);
    await as(CONTAINER, async (daemon) => {
      const asked = daemon.call(logLevel, { level: 'debug', seconds: 60 });
      await expect(asked).rejects.toMatchObject({ reason: 'notAdministrator' });
    });
    expect([recorded, logged.level]).toEqual([[], 'info']);
  });

  it('tells a container no more than it would learn by trying', async () => {
    await as(CONTAINER, async ({ config: asked }) => {
      const allowed = { allowed: true, code: '', reason: '' };
      expect(await asked.explain({ path: tool })).toEqual(allowed);
      expect(await asked.explain({ path: pinned })).toEqual(allowed);
      expect(await asked.explain({ path: pinned, sha256: 'ab'.repeat(32) })).toMatchObject({
        code: 'checksumMismatch',
      });
      expect(await asked.explain({ path: `${folder}/theirs` })).toMatchObject({
        allowed: false,
        code: 'callerNotAllowed',
        reason: expect.not.stringContaining('administrators') as string,
      });
      const unlisted = await asked.explain({ path: '/etc/passwd' });
      expect(unlisted).toMatchObject({ code: 'pathNotAllowed' });
      expect(unlisted.entry).toBeUndefined();
      expect(JSON.stringify(unlisted)).not.toContain(folder);
    });
  });

  it.each([
    ['a container', CONTAINER],
    ['somebody whom the system does not know', undefined],
  ])(
    'shows its file to administrators alone and reloads only for them: not for %s',
    async (_who, who) => {
      await as(who, async ({ config: asked }) => {
        const refused = { code: 'refused', reason: 'notAdministrator' };
        await expect(asked.describe()).rejects.toMatchObject(refused);
        await expect(asked.reload()).rejects.toMatchObject(refused);
      });
    },
  );

  it('reloads for an administrator, and says what changed and what needs a restart', async () => {
    onDisk = `${text.replace('9796', '9797')}debug: true\nlisten: other\nprocessEnvironment: {TOKEN: s3cret}\n`;
    const answer = await as(ADMINISTRATOR, ({ config: asked }) => asked.reload());
    expect(answer).toEqual({
      file: file,
      rejected: false,
      problems: [],
      changed: ['debug', 'listen', 'processEnvironment', 'white_list.proxyPorts'],
      changes: [
        'debug: false → true',
        'listen: "rancher_wins" → "other"',
        'processEnvironment: added "TOKEN"',
        'white_list.proxyPorts: removed 9796, added 9797',
      ],
      needRestart: ['listen'],
    });
  });

  it('tells an administrator with which content the daemon runs: the newest that waits for no restart', async () => {
    const waiting = `${text}listen: other\n`;
    const digests = await as(ADMINISTRATOR, async ({ config: asked }) => {
      const first = await asked.describe();
      expect(first).toMatchObject({ file: file, found: true, pid: process.pid });
      expect(Math.abs(Date.now() - process.uptime() * 1000 - first.startedAtMs)).toBeLessThan(
        10_000,
      );
      const found = [first.sha256];
      for (onDisk of [waiting, `${text}debug: true\n`]) {
        await asked.reload();
        found.push((await asked.describe()).sha256);
      }
      return found;
    });
    expect(digests).toEqual([digestOf(text), digestOf(text), digestOf(onDisk)]);
  });

  it('keeps the config that is in force when the new one cannot be used, and says why', async () => {
    onDisk = `${text}debug: maybe\nprocessEnvironment: {TOKEN: "s3cret\\0"}\n`;
    const answer = await as(ADMINISTRATOR, ({ config: asked }) => asked.reload());
    expect(answer).toMatchObject({ rejected: true, changed: [], needRestart: [] });
    expect(answer.problems).toMatchObject([
      { severity: 'error', key: 'debug', line: 9 },
      { severity: 'error', key: 'processEnvironment.TOKEN', line: 10 },
    ]);
    expect(JSON.stringify(answer)).not.toContain('s3cret');
    expect(config.inForce()).toBe(atStart);
  });

  it('does not reject the config when the daemon stops meanwhile', async () => {
    isStopping = true;
    await as(ADMINISTRATOR, async ({ config: asked }) => {
      const details = 'the daemon is stopping';
      await expect(asked.reload()).rejects.toMatchObject({ code: 'internal', details });
    });
    isStopping = false;
  });
});
