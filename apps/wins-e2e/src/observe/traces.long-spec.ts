import { Client, credentials, Metadata } from '@grpc/grpc-js';
import {
  applicationServiceDefinition,
  processServiceDefinition,
  wholeStartRequest,
  type ProcessStartResponse,
} from '@wins/wins-api/contract';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { Workspace } from '../testing/workspace.js';

const TRACE = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const PARENT = 'feedfacefeedface';
const CANARY = 'canary-5e2c';

type Line = Readonly<Record<string, unknown>>;

describe('the ids of a trace that a client sends', () => {
  let workspace: Workspace;
  let program: string;
  let config: string;
  beforeEach(() => {
    workspace = new Workspace();
    program = workspace.script('tool', 'exit 0');
    config = workspace.config([program]);
  });
  afterEach(() => workspace[Symbol.dispose]());

  /** Calls `Info`, and starts a program that is not listed. Resolves with the gRPC status of the start. */
  async function call(daemon: Daemon, traceparent?: string): Promise<number | undefined> {
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const client = new Client(`unix:${String(address)}`, credentials.createInsecure());
    const metadata = new Metadata();
    if (traceparent !== undefined) metadata.set('traceparent', traceparent);
    const { info } = applicationServiceDefinition;
    const { start } = processServiceDefinition;
    const request = wholeStartRequest({ checksum: 'x', path: '/not/listed', args: [CANARY] });
    try {
      await new Promise<void>((resolve, reject) =>
        client.makeUnaryRequest(
          info.path,
          info.requestSerialize,
          info.responseDeserialize,
          {},
          metadata,
          (error) => (error === null ? resolve() : reject(error)),
        ),
      );
      return await new Promise((resolve) =>
        client.makeUnaryRequest(
          start.path,
          start.requestSerialize,
          start.responseDeserialize,
          request,
          metadata,
          (error) => resolve(error?.code),
        ),
      );
    } finally {
      client.close();
    }
  }

  async function lines(...args: string[]): Promise<Line[]> {
    const { code, stdout } = await runWins(
      ['srv', ...args, '--config', config],
      workspace.environment,
    );
    expect(code).toBe(0);
    return String(stdout)
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line);
  }

  it('show in the log, audit records and events of a call, and nothing else of a context does (A89)', async () => {
    await using daemon = await Daemon.start(workspace, config, '--debug');
    expect(await call(daemon, `00-${TRACE}-${PARENT}-01`)).toBeGreaterThan(0);
    expect(await call(daemon, `cc-${TRACE}-${PARENT}-00-${CANARY}`)).toBeGreaterThan(0);
    expect(await call(daemon, `00-${TRACE}-${PARENT}-${CANARY}`)).toBeGreaterThan(0);
    expect(await call(daemon)).toBeGreaterThan(0);
    const events = await lines('events', '-o', 'json');
    const records = await lines('audit', 'show', '-o', 'json');
    await daemon.stop();

    const answered = ({ msg, method }: Line) =>
      msg === 'call answered' && String(method).endsWith('Start');
    const ids = { traceId: TRACE, spanId: PARENT };
    const found = [TRACE, TRACE, undefined, undefined];
    expect(daemon.log.filter(answered)).toMatchObject([ids, ids, {}, {}]);
    expect(daemon.log.filter(answered).map(({ traceId }) => traceId)).toEqual(found);
    const copies = daemon.log.filter(({ log, action }) => log === 'audit' && action === 'start');
    expect(copies.map(({ traceId }) => traceId)).toEqual(found);
    const decided = events.filter(({ type, action }) => type === 'decided' && action === 'start');
    expect(decided.map(({ traceId }) => traceId)).toEqual(found);
    expect(records.filter(({ kind }) => kind === 'start').map(({ traceId }) => traceId)).toEqual(
      found,
    );
    expect(JSON.stringify([events, records]) + daemon.text).not.toContain(CANARY);
  });

  it('show in each record of a run, although its requests arrive after the headers of their calls', async () => {
    await using daemon = await Daemon.start(workspace, config, '--debug');
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const client = new Client(`unix:${String(address)}`, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('traceparent', `00-${TRACE}-${PARENT}-01`);
    const { start, keepAlive, wait } = processServiceDefinition;
    const checksum = createHash('sha1').update(readFileSync(program)).digest('hex');
    const { data } = await new Promise<ProcessStartResponse>((resolve, reject) =>
      client.makeUnaryRequest(
        start.path,
        start.requestSerialize,
        start.responseDeserialize,
        wholeStartRequest({ checksum, path: program }),
        metadata,
        (error, answer) => (answer === undefined ? reject(error as Error) : resolve(answer)),
      ),
    );
    const released = new Promise((resolve, reject) => {
      const done = (error: Error | null): void =>
        error === null ? resolve(undefined) : reject(error);
      const lease = client.makeClientStreamRequest(
        keepAlive.path,
        keepAlive.requestSerialize,
        keepAlive.responseDeserialize,
        metadata,
        done,
      );
      const begins = ({ msg, method }: Line) =>
        msg === 'call begins' && String(method).endsWith('KeepAlive');
      void daemon.logged(begins).then(() => {
        lease.write({ data });
        const output = client.makeServerStreamRequest(
          wait.path,
          wait.requestSerialize,
          wait.responseDeserialize,
          { data },
          metadata,
        );
        output
          .resume()
          .on('error', reject)
          .once('end', () => lease.end());
      });
    });
    await released;
    client.close();
    const records = await lines('audit', 'show', '-o', 'json');
    const ofRun = ['start', 'keepAlive', 'wait'];
    const found = records.filter(({ kind }) => ofRun.includes(String(kind)));
    expect(found.map(({ kind, traceId }) => [kind, traceId])).toEqual(
      ofRun.map((kind) => [kind, TRACE]),
    );
  });
});
