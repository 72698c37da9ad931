import { EVERYBODY, type ClientIdentity } from '@wins/base';
import type { Decision } from '../../kernel/audit/decision.js';
import { parseConfig } from '@wins/config';
import { createWinsClient, WinsClientError, type WinsClient } from '@wins/wins-api';
import { debugServiceDefinition, type DebugPiece } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { createDebugService } from './debug-service.js';
import { diagnostics } from './feature.js';

const USER: ClientIdentity = {
  key: 'uid:1000',
  isAdministrator: false,
  isEverybody: false,
  description: { uid: 1000 },
  names: ['user:1000'],
};
const { record } = debugServiceDefinition;
const KINDS = ['stacks', 'report', 'heap', 'cpu', 'trace'];

async function whole(pieces: AsyncIterable<DebugPiece>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const { data } of pieces) parts.push(Buffer.from(data));
  return Buffer.concat(parts).toString();
}

function recorded(
  daemon: WinsClient,
  kind: string,
  seconds = 1,
  options?: Parameters<WinsClient['stream']>[2],
): Promise<string> {
  return whole(daemon.stream(record, { kind, seconds }, options));
}

describe('the service of diagnosis', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-debug-service-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let decisions: Decision[];
  let isRecording: boolean;
  let isWanted: boolean;
  const off = new FeatureSwitch(diagnostics, kernelOf());
  off.apply(diagnostics.settings({ ...parseConfig('debugPipe: false'), path: '', found: true }));
  beforeEach(() => {
    decisions = [];
    isRecording = true;
    isWanted = true;
  });

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
    await using _served = await serveCalls(
      address,
      (server, open) =>
        server.addService(
          debugServiceDefinition,
          createDebugService(open, {
            audit,
            requireOn: () => {
              if (!isWanted) off.require();
            },
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
      for (const kind of KINDS)
        expect(await codeOf(recorded(daemon, kind))).toBe('notAdministrator');
    });
    expect(decisions).toEqual([]);
  });

  it('answers while the config wants it alone, and says which key turns it on', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      isWanted = false;
      await expect(recorded(daemon, 'report')).rejects.toMatchObject({
        code: 'failedPrecondition',
        reason: 'debugOff',
        details: expect.stringContaining('set debugPipe: true') as string,
      });
      isWanted = true;
      expect(JSON.parse(await recorded(daemon, 'report'))).toHaveProperty('javascriptHeap');
    });
    expect(decisions).toEqual([]);
  });

  it('knows no other kind of recording', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      for (const kind of ['', 'toString', 'heaps'])
        await expect(recorded(daemon, kind)).rejects.toMatchObject({
          reason: 'invalidArgument',
          details: `cannot record "${kind}"; wanted one of stacks, report, heap, cpu, trace`,
        });
    });
  });

  it('sends no heap unless that could be recorded', async () => {
    isRecording = false;
    await as(ADMINISTRATOR, async (daemon) => {
      await expect(recorded(daemon, 'heap')).rejects.toThrow('the disk is full');
    });
  });

  it('runs and records one diagnosis of a kind at a time, and ends it when its client has gone (A79)', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      for (const kind of ['cpu', 'trace', 'stacks']) {
        const given = new AbortController();
        const options = { signal: given.signal };
        const first = recorded(daemon, kind, 60, options).catch(() => 'ended');
        // A refusal of another recording shows that the first recording is running.
        while ((await codeOf(recorded(daemon, kind, 0.001))) !== 'busy');
        given.abort();
        expect(await first).toBe('ended');
        while ((await codeOf(recorded(daemon, kind, 0.001))) !== 'answered');
      }
      for (const seconds of [0, -1, 61, NaN, Infinity])
        expect(await codeOf(recorded(daemon, 'cpu', seconds))).toBe('invalidArgument');
    });
  });
});
