import { EVERYBODY, type ClientIdentity } from '@wins/base';
import type { Decision } from '../../kernel/audit/decision.js';
import { parseConfig } from '@wins/config';
import { createWinsClient, WinsClientError, type WinsClient } from '@wins/wins-api';
import { debugServiceDefinition, type DebugPiece } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { LogLevel } from '../../kernel/log/logger.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { createDebugService } from './debug-service.js';
import { diagnostics } from './feature.js';

const USER: ClientIdentity = {
  ...{ key: 'uid:1000', isAdministrator: false, isEverybody: false },
  ...{ description: { uid: 1000 }, names: ['user:1000'] },
};
const { connections, cpu, handles, heap, logLevel, report, runs, stacks, streams, trace } =
  debugServiceDefinition;

async function whole(pieces: AsyncIterable<DebugPiece>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const { data } of pieces) parts.push(Buffer.from(data));
  return Buffer.concat(parts).toString();
}

describe('the service of diagnosis', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-debug-service-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const logger = { level: 'info' };
  let decisions: Decision[];
  let isRecording: boolean;
  let isWanted: boolean;
  let level: LogLevel;
  const off = new FeatureSwitch(diagnostics, kernelOf());
  off.apply(diagnostics.settings({ ...parseConfig('debugPipe: false'), path: '', found: true }));
  beforeEach(() => {
    decisions = [];
    isRecording = true;
    isWanted = true;
    level = new LogLevel(logger);
  });
  afterEach(() => level[Symbol.dispose]());

  let lastSocket = 0;
  async function as(
    client: ClientIdentity,
    ask: (daemon: WinsClient) => Promise<void>,
  ): Promise<void> {
    lastSocket += 1;
    const address = path.join(folder, `socket-${lastSocket}`);
    const audit = {
      decided: (decision: Decision) => {
        if (!isRecording) return Promise.reject(new Error('the disk is full'));
        decisions.push(decision);
        return Promise.resolve();
      },
    };
    const openedAt = new Date('2026-03-01T12:00:00Z');
    const counts = { receivedBytes: 7, sentBytes: 2 ** 40 };
    await using _served = await serveCalls(
      address,
      (server, open) =>
        server.addService(
          debugServiceDefinition,
          createDebugService(open, {
            ...{ audit, level },
            requireOn: () => {
              if (!isWanted) off.require();
            },
            connections: () => [
              { name: 'pipe:1', client: { pid: 42, uid: 0 }, openedAt, calls: 3, ...counts },
            ],
            sessions: () => [
              {
                ...{ name: 'tunnel:1', client: { container: 'c' }, openedAt, streams: 5 },
                traffic: { ...counts, pauses: 1, droppedDatagrams: 0 },
              },
            ],
            runs: () => [],
          }),
        ),
      undefined,
      client,
    );
    await using daemon = createWinsClient({ address });
    await ask(daemon);
  }
  const codeOf = async (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'answered',
      (error: unknown) => (error instanceof WinsClientError ? error.reason : error),
    );

  it.each([
    ['in a container', CONTAINER],
    ['without the rights of the daemon', USER],
    ['of whom the system tells nothing', EVERYBODY],
  ])('tells nothing to a client %s, whatever pipe it was given (A78)', async (_who, client) => {
    await as(client, async (daemon) => {
      const seconds = { seconds: 1 };
      const asked = [
        ...[stacks, cpu, trace].map((method) => whole(daemon.stream(method, seconds))),
        ...[report, heap].map((method) => whole(daemon.stream(method, {}))),
        ...[handles, connections, runs, streams].map((method) =>
          daemon.call<object, object>(method as never, {}),
        ),
        daemon.call(logLevel, { level: 'debug', seconds: 60 }),
      ];
      for (const each of asked) expect(await codeOf(each)).toBe('notAdministrator');
    });
    expect([decisions, logger.level]).toEqual([[], 'info']);
  });

  it('answers while the config wants it alone, and says which key turns it on', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      isWanted = false;
      const asked = [daemon.call(handles, {}), whole(daemon.stream(report, {}))];
      for (const each of asked)
        await expect(each).rejects.toMatchObject({
          ...{ code: 'failedPrecondition', reason: 'debugOff' },
          details: expect.stringContaining('set debugPipe: true') as string,
        });
      isWanted = true;
      expect((await daemon.call(handles, {})).handles.length).toBeGreaterThan(0);
    });
  });

  it('tells an administrator who is connected, and what the tunnel carries', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      expect(await daemon.call(connections, {})).toMatchObject({
        connections: [{ name: 'pipe:1', client: { pid: 42, account: '0' }, calls: 3 }],
      });
      expect(await daemon.call(streams, {})).toMatchObject({
        sessions: [{ client: { container: 'c' }, streams: 5, sentBytes: 1099511627776, pauses: 1 }],
      });
      expect((await daemon.call(handles, {})).handles.length).toBeGreaterThan(0);
      expect(JSON.parse(await whole(daemon.stream(report, {})))).toHaveProperty('javascriptHeap');
    });
    expect(decisions).toEqual([]);
  });

  it('changes the level for some time, and records that before it does', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      const answer = await daemon.call(logLevel, { level: 'debug', seconds: 60 });
      expect([answer.level, logger.level]).toEqual(['debug', 'debug']);
      expect(Date.parse(answer.until)).toBeGreaterThan(Date.now());
      await daemon.call(logLevel, { level: 'default', seconds: 0 });
      expect(logger.level).toBe('info');
      for (const [level, seconds, found] of [
        ['debug', 0, '0 s; wanted more than 0 and at most 86400 s'],
        ['debug', 86_401, '86401 s; wanted'],
        ['silent', 60, 'the level "silent"; wanted one of'],
        ['\u001b[2J', 60, String.raw`the level "\u001b[2J"; wanted`],
      ] as const)
        await expect(daemon.call(logLevel, { level, seconds })).rejects.toMatchObject({
          reason: 'invalidArgument',
          message: expect.stringContaining(`cannot change the log: found ${found}`) as string,
        });
    });
    expect(decisions.map(({ action, name }) => [action, name])).toEqual([
      ['debugLogLevel', 'debug'],
      ['debugLogLevel', 'default'],
    ]);
  });

  it('sends no heap unless that could be recorded', async () => {
    isRecording = false;
    await as(ADMINISTRATOR, async (daemon) => {
      await expect(whole(daemon.stream(heap, {}))).rejects.toThrow('the disk is full');
      await expect(daemon.call(logLevel, { level: 'debug', seconds: 1 })).rejects.toThrow();
    });
    expect(logger.level).toBe('info');
  });

  it('runs and records one diagnosis of a kind at a time, and ends it when its client has gone (A79)', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      for (const method of [cpu, trace, stacks]) {
        const given = new AbortController();
        const options = { signal: given.signal };
        const first = whole(daemon.stream(method, { seconds: 60 }, options)).catch(() => 'ended');
        // A refusal of another recording shows that the first recording is running.
        while ((await codeOf(whole(daemon.stream(method, { seconds: 0.001 })))) !== 'busy');
        given.abort();
        expect(await first).toBe('ended');
        while ((await codeOf(whole(daemon.stream(method, { seconds: 0.001 })))) !== 'answered');
      }
      for (const seconds of [0, -1, 61, NaN, Infinity])
        expect(await codeOf(whole(daemon.stream(cpu, { seconds })))).toBe('invalidArgument');
    });
  });
});
