import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http2 from 'node:http2';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Void } from './gen/common.js';
import { healthCheckDefinition } from './definitions/health-check-definition.js';
import {
  WinsClientError,
  type CallEvent,
  type WinsClientOptions,
  createWinsClient,
  type WinsClient,
} from './index.js';
import {
  applicationServiceDefinition,
  ERROR_METADATA_KEY,
  UNKNOWN_PARTS,
  processServiceDefinition,
  runsDefinition,
  type RunsServer,
  RunExposeProtocol,
  type ApplicationInfoResponse,
  type ApplicationServiceServer,
  type ProcessKeepAliveRequest,
  type ProcessServiceServer,
  type ProcessStartRequest,
  type ProcessWaitRequest,
  type ProcessWaitResponse,
} from './contract.js';

const NAME = { value: 'rancher-wins-nginx', runId: '00112233445566778899aabbccddeeff' };
const INFO_MESSAGE = { checksum: 'c0ffee', version: 'v1.2.3', commit: 'abc' };
const INFO = { checksum: 'c0ffee', version: 'v1.2.3', commit: 'abc' };
const REQUEST = { path: '/bin/x', checksum: 'c0ffee' };
const RUN = {
  name: NAME.value,
  process: NAME.value,
  lifetime: 'connection',
  state: 'running',
  path: '/bin/x',
  pid: 7,
  startedAtMs: 1700000000000,
  sha256: 'c0ffee',
  exposes: [{ port: 80, protocol: 'UDP' }],
  runId: NAME.runId,
  restarts: 0,
};
const EXIT = { exitCode: 7, reason: 'exited' };

type WaitCall = ServerWritableStream<ProcessWaitRequest, ProcessWaitResponse>;

describe('createWinsClient', () => {
  let directory: string;
  let address: string;
  let listener: net.Server;
  let sockets: Set<net.Socket>;
  /** Takes a connection of the listener; a test replaces it. */
  let serve: (socket: net.Socket) => void;
  let server: Server;
  let client: WinsClient;
  let asked: { request?: ProcessStartRequest; metadata: Metadata }[];
  let kept: ProcessKeepAliveRequest[];
  let leaseEnded: Promise<void>;

  // Handlers of the server; a test replaces those that it needs.
  let info: ApplicationServiceServer['info'];
  let start: ProcessServiceServer['start'];
  let wait: (call: WaitCall) => void;
  let listRuns: RunsServer['list'];
  let stopRun: RunsServer['stop'];
  let onKept: () => void;
  let cleanUp: (done: sendUnaryData<Void>) => void;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'wins-api-'));
    address = path.join(directory, 's');
    asked = [];
    kept = [];
    sockets = new Set();
    onKept = () => undefined;
    cleanUp = (done) => done(null, {});
    info = (call, done) => {
      asked.push({ metadata: call.metadata });
      done(null, { info: INFO_MESSAGE });
    };
    start = (call, done) => {
      asked.push({ request: call.request, metadata: call.metadata });
      done(null, { data: NAME, warnings: ['one', 'two'], leaseMs: 60_000 });
    };
    wait = (call) => {
      call.write({ options: { $case: 'stdOut', value: Buffer.from('out\n') } });
      call.write({ options: { $case: 'exit', value: EXIT } });
      call.end();
    };
    listRuns = (_call, done) => done(null, { takenAtUs: 0, runs: [RUN] });
    stopRun = (call, done) => done(null, { signal: call.request.name, reason: 'stopped' });
    let tellEnded: () => void = () => undefined;
    leaseEnded = new Promise((resolve) => (tellEnded = resolve));
    server = new Server();
    const application: ApplicationServiceServer = { info: (call, done) => info(call, done) };
    const processes: ProcessServiceServer = {
      start: (call, done) => start(call, done),
      startExactly: (call, done) => start(call, done),
      updateFile: (_call, done) => done(null, {}),
      wait: (call) => wait(call),
      keepAlive: (call, done) => {
        call.on('data', (request: ProcessKeepAliveRequest) => {
          kept.push(request);
          onKept();
        });
        call.on('end', () => cleanUp(done));
        call.on('cancelled', tellEnded);
      },
    };
    server.addService(applicationServiceDefinition, application);
    server.addService(processServiceDefinition, processes);
    const { list, stop } = runsDefinition;
    const runs: Pick<RunsServer, 'list' | 'stop'> = {
      list: (call, done) => listRuns(call, done),
      stop: (call, done) => stopRun(call, done),
    };
    server.addService({ list, stop }, runs);
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    serve = (socket) => injector.injectConnection(socket);
    listener = net.createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
      serve(socket);
    });
    await listen();
    client = createWinsClient({ address });
  });

  afterEach(async () => {
    // The client may connect again until it is closed, and the listener accepts such a connection late.
    serve = (socket) => socket.destroy();
    await client.close();
    server.forceShutdown();
    for (const socket of sockets) socket.destroy();
    if (listener.listening) {
      listener.close();
      await once(listener, 'close');
    }
    await rm(directory, { recursive: true });
  });

  async function listen(): Promise<void> {
    listener.listen(address);
    await once(listener, 'listening');
  }

  async function nextSocket(): Promise<net.Socket> {
    const [socket] = (await once(listener, 'connection')) as [net.Socket];
    return socket;
  }

  async function failure(call: Promise<unknown>): Promise<WinsClientError> {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof WinsClientError)) throw new Error('the call did not fail as it should');
    return error;
  }

  async function replaceClient(options: Partial<WinsClientOptions>): Promise<void> {
    await client.close();
    client = createWinsClient({ address, ...options });
  }

  async function collect(messages: AsyncIterable<ProcessWaitResponse>) {
    const all: ProcessWaitResponse[] = [];
    for await (const message of messages) all.push(message);
    return all;
  }

  it('asks for the build of the daemon', async () => {
    await expect(client.info()).resolves.toEqual(INFO);
  });

  it('asks whether the daemon takes work, of one that has a health service', async () => {
    expect((await failure(client.isServing())).code).toBe('unimplemented');
    let answer: Buffer | undefined;
    const { path: checkPath } = healthCheckDefinition;
    server.register(
      checkPath,
      (_call: unknown, done: (error: null, value?: Buffer) => void) => done(null, answer),
      (value: Buffer) => value,
      (bytes) => bytes,
      'unary',
    );
    for (const [bytes, serving] of [
      [[0x08, 1], true],
      [[0x08, 2], false],
      [[], false],
    ] as const) {
      answer = Buffer.from(bytes);
      expect(await client.isServing()).toBe(serving);
    }
  });

  it('starts a process from a partial request, follows it to its exit and lets go of it', async () => {
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    const leases: number[] = [];
    const onLease = (leaseMs: number) => leases.push(leaseMs);
    const request = { ...REQUEST, args: ['a'] };
    expect(await client.startProcess(request, { onWarning, onLease })).toEqual(NAME);
    expect([warnings, leases]).toEqual([['one', 'two'], [60_000]]);
    expect(asked[0]?.request).toMatchObject({ path: '/bin/x', args: ['a'], envs: [], dir: '' });
    const lease = client.keepAlive(NAME);
    await expect(collect(client.waitProcess(NAME))).resolves.toEqual([
      { options: { $case: 'stdOut', value: Buffer.from('out\n') } },
      { options: { $case: 'exit', value: EXIT } },
    ]);
    await lease.end();
    await lease.closed;
    expect(kept).toEqual([{ data: NAME }]);
  });

  it('lists and stops processes', async () => {
    await expect(client.runs.list()).resolves.toEqual([RUN]);
    const stopped = { exitCode: undefined, signal: 'x', reason: 'stopped' };
    await expect(client.runs.stop({ value: 'x' })).resolves.toEqual(stopped);
    await expect(client.runs.stop('x')).resolves.toEqual(stopped);
  });

  it('keeps many calls on one connection', async () => {
    await Promise.all(Array.from({ length: 20 }, () => client.info()));
    expect(sockets.size).toBe(1);
  });

  it('sends its name with each call', async () => {
    await replaceClient({ clientName: 'node-1/4711 (pod a)' });
    await client.info();
    await client.startProcess(REQUEST);
    expect(asked.map(({ metadata }) => metadata.get('wins-client'))).toEqual([
      ['node-1/4711 (pod a)'],
      ['node-1/4711 (pod a)'],
    ]);
  });

  it('tells who follows it when it connects, what it calls, and how that ends', async () => {
    const events: CallEvent[] = [];
    await replaceClient({ onCallEvent: (event) => events.push(event) });
    await client.info();
    info = (_call, done) => done({ code: status.NOT_FOUND });
    await failure(client.info());
    const ms = expect.any(Number) as number;
    expect(events).toEqual([
      { kind: 'connecting' },
      { kind: 'called', call: 1, method: 'Info' },
      { kind: 'connected', ms },
      { kind: 'ended', call: 1, method: 'Info', ms },
      { kind: 'called', call: 2, method: 'Info' },
      { kind: 'ended', call: 2, method: 'Info', ms, error: 'notFound' },
    ]);
  });

  it.each([
    [{ memoryBytes: 0.5 }, 'found 0.5 as limits.memoryBytes; wanted a whole number from 0 to'],
    [{ memoryBytes: 2 ** 53 }, 'limits.memoryBytes; wanted a whole number from 0 to'],
    [{ pids: -1 }, 'found -1 as limits.pids; wanted a whole number from 0 to 4294967295'],
    [{ cpus: NaN }, 'found NaN as limits.cpus; wanted a number from 0 to'],
  ])('refuses the limits %j, and names the one that cannot be', async (limits, found) => {
    await expect(client.run({ path: process.execPath, limits })).rejects.toMatchObject({
      name: 'WinsClientError',
      code: 'invalidRequest',
      details: expect.stringContaining(found) as string,
    });
  });

  it('ends a run that a daemon cannot kill at once like any other', async () => {
    stopRun = (_call, done) => done({ code: status.UNIMPLEMENTED });
    wait = (call) => {
      cleanUp = (done) => {
        call.write({ options: { $case: 'exit', value: EXIT } });
        call.end();
        done(null, {});
      };
    };
    const run = await client.run({ path: process.execPath });
    expect(await run.stop({ force: true })).toMatchObject(EXIT);
  });

  it('stops a run by an abort, though the daemon does not tell its PID', async () => {
    const abort = new AbortController();
    listRuns = () => abort.abort();
    const run = await client.run({ path: process.execPath, signal: abort.signal });
    expect(run.pid).toBeUndefined();
    expect(await failure(run.exit)).toMatchObject({ code: 'aborted' });
  });

  it('starts a run that an earlier daemon does not let outlive it as one that ends with it, and shortens nothing else', async () => {
    const found: ProcessStartRequest[] = [];
    start = ({ request }, done) => {
      found.push(request);
      if (request.outlivesDaemon || request.limits?.pids === 9)
        done({ code: status.INTERNAL, details: `Error: ${UNKNOWN_PARTS}; upgrade the daemon` });
      else done(null, { data: NAME, warnings: [], leaseMs: 0 });
    };
    const limits = (pids: number) => ({ memoryBytes: 0, cpuMillis: 0, pids, means: '' });
    const wanted = { ...REQUEST, limits: limits(8), outlivesDaemon: true };
    expect(await client.startProcess(wanted)).toEqual(NAME);
    expect(found.map(({ outlivesDaemon, limits }) => [outlivesDaemon, limits?.pids])).toEqual([
      [true, 8],
      [false, 8],
    ]);
    await failure(client.startProcess({ ...wanted, limits: limits(9) }));
  });

  it('sends no name when it has none', async () => {
    await client.info();
    expect(asked[0]?.metadata.get('wins-client')).toEqual([]);
  });

  it.each<[string, Partial<WinsClientOptions>]>([
    ['a name with a line end', { clientName: 'a\nb' }],
    ['a name that is not ASCII', { clientName: 'é' }],
    ['a name of 129 characters', { clientName: 'x'.repeat(129) }],
    ['a relative address', { address: 'run/s' }],
    ['an address that names an authority', { address: '//host/s' }],
    ['a pipe of another machine', { address: '\\\\host\\pipe\\x' }],
    ['an address with NUL', { address: '/run/s\0' }],
    ['an empty address', { address: '' }],
    ['no time to connect', { connectTimeoutMs: 0 }],
    ['time that is no number', { connectTimeoutMs: Number.NaN }],
    ['more time than a timer takes', { connectTimeoutMs: 2 ** 31 }],
  ])('refuses %s', (_what, options) => {
    expect(() => createWinsClient({ address, ...options })).toThrow(
      expect.objectContaining({ code: 'invalidRequest' }) as Error,
    );
  });

  it('takes a name of 128 characters, and an address with a space', async () => {
    await createWinsClient({ address: '/run/a b/s', clientName: 'x'.repeat(128) }).close();
  });

  it('does not compile a call without what it needs', () => {
    const incomplete = (on: WinsClient): unknown[] => [
      // @ts-expect-error -- without a program and its digest
      on.startProcess({}),
      // @ts-expect-error -- without a run
      on.keepAlive({}),
      // @ts-expect-error -- without a run
      on.waitProcess({}),
      // @ts-expect-error -- without a run
      on.runs.stop({}),
      // @ts-expect-error -- without a program
      on.run({}),
    ];
    expect(incomplete).toBeInstanceOf(Function);
  });

  describe('without a daemon', () => {
    it('fails at once, saying where it looked', async () => {
      listener.close();
      await once(listener, 'close');
      const error = await failure(client.info());
      expect(error).toMatchObject({
        code: 'unavailable',
        isConnectionLost: false,
        method: 'Info',
        address,
      });
      expect(error.message).toContain(`Info at ${address}: `);
      expect(error.message).toContain('no connection: there is no such pipe');
    });

    it('fails every kind of call alike', async () => {
      listener.close();
      await once(listener, 'close');
      const lease = client.keepAlive(NAME);
      await expect(lease.closed).rejects.toMatchObject({ code: 'unavailable' });
      expect(await lease.end()).toMatchObject({ code: 'unavailable' });
      await expect(collect(client.waitProcess(NAME))).rejects.toMatchObject({
        code: 'unavailable',
        isConnectionLost: false,
      });
    });

    it('gives up on one that accepts and never speaks', async () => {
      serve = () => undefined;
      await replaceClient({ connectTimeoutMs: 20 });
      const error = await failure(client.info());
      expect(error).toMatchObject({ code: 'unavailable', isConnectionLost: false });
      expect(error.message).toContain('within 20 ms');
    });

    it('says in its own words that something else is served there', async () => {
      serve = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      await replaceClient({});
      const { code, details } = await failure(client.info());
      expect(code).toBe('unavailable');
      expect(details).toMatch(/^no connection: its server [^()]*HTTP\/2$/);
    });

    it('gives up on one that connects and never answers, after the time for an answer', async () => {
      const cancelled = new Promise<void>((resolve) => {
        info = (call) => void call.on('cancelled', () => resolve());
      });
      await replaceClient({ answerTimeoutMs: 200 });
      const error = await failure(client.info());
      expect(error).toMatchObject({ code: 'deadlineExceeded', isConnectionLost: false });
      expect(error.message).toContain('within 200 ms');
      await cancelled;
    });

    it('does not hurry a call whose connection stands', async () => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
      try {
        const called = new Promise<() => void>((resolve) => {
          info = (_call, done) => resolve(() => done(null, { info: INFO_MESSAGE }));
        });
        const call = client.info();
        const answer = await called;
        jest.advanceTimersByTime(5000);
        answer();
        await expect(call).resolves.toEqual(INFO);
      } finally {
        jest.useRealTimers();
      }
    });
  });

  describe('with dial', () => {
    const dialTo = async (where: string) => {
      const socket = net.connect(where);
      await once(socket, 'connect');
      return socket;
    };

    it('uses only connections from it, the first time and again', async () => {
      const other = `${address}-unjudged`;
      const unjudged = net.createServer((socket) => sockets.add(socket)).listen(other);
      await once(unjudged, 'listening');
      const accepted = jest.fn();
      unjudged.on('connection', accepted);
      const dialled: net.Socket[] = [];
      await replaceClient({
        address: other,
        dial: async () => {
          const socket = await dialTo(address);
          dialled.push(socket);
          return socket;
        },
      });
      await expect(client.info()).resolves.toEqual(INFO);
      await client.info();
      expect(dialled).toHaveLength(1);
      expect(sockets.size).toBe(1);
      dialled[0]?.destroy();
      while ((await client.info().catch(() => undefined)) === undefined);
      expect(dialled).toHaveLength(2);
      await client.close();
      expect(dialled).toMatchObject([{ destroyed: true }, { destroyed: true }]);
      // If the client had connected to `unjudged`, that connection would have arrived before the one below.
      const last = once(unjudged, 'connection');
      (await dialTo(other)).destroy();
      await last;
      expect(accepted).toHaveBeenCalledTimes(1);
      unjudged.close();
    });

    it('sends nothing before it has resolved', async () => {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const judged: net.Socket[] = [];
      await replaceClient({
        dial: async () => {
          const socket = await dialTo(address);
          judged.push(socket);
          await held;
          return socket;
        },
      });
      serve = () => undefined;
      const connected = nextSocket();
      const call = client.info();
      const socket = await connected;
      const firstByte = once(socket, 'data');
      while (judged.length === 0) await new Promise(setImmediate);
      expect(judged[0]?.bytesWritten).toBe(0);
      expect(socket.bytesRead).toBe(0);
      release();
      await firstByte;
      socket.destroy();
      await expect(call).rejects.toMatchObject({ code: 'unavailable' });
    });

    it('connects to no server after it has rejected, and reports the reason', async () => {
      const reason = new Error('the pipe belongs to somebody else');
      const accepted = jest.fn();
      listener.on('connection', accepted);
      await replaceClient({ dial: () => Promise.reject(reason) });
      const error = await failure(client.info());
      expect(error).toMatchObject({ code: 'unavailable', isConnectionLost: false, cause: reason });
      expect(error.message).toContain('the pipe belongs to somebody else');
      // If the client had connected, its connection would have arrived before the one below.
      const last = nextSocket();
      (await dialTo(address)).destroy();
      await last;
      expect(accepted).toHaveBeenCalledTimes(1);
    });

    it('does not blame an earlier rejection for a daemon that is gone', async () => {
      const judge = jest.fn(() => Promise.reject<net.Socket>(new Error('not ours')));
      await replaceClient({ dial: judge });
      expect((await failure(client.info())).message).toContain('not ours');
      judge.mockImplementation(() => dialTo(`${address}-absent`));
      for (;;) {
        // Until grpc-js tries to connect again, calls fail with its last error.
        const error = await failure(client.info());
        if (error.message.includes('not ours')) continue;
        expect(error.message).toMatch(/ENOENT|there is no such pipe/);
        break;
      }
    });

    it('survives a server that hung up while it was judged', async () => {
      await replaceClient({
        dial: async () => {
          const socket = await dialTo(address);
          await once(socket.resume(), 'close');
          return socket;
        },
      });
      serve = () => undefined;
      const connected = nextSocket();
      const call = failure(client.info());
      (await connected).destroy();
      expect((await call).code).toBe('unavailable');
      await client.close();
    });

    it('closes the connection that comes after the client was closed', async () => {
      let give: (socket: net.Socket) => void = () => undefined;
      const given = new Promise<net.Socket>((resolve) => (give = resolve));
      let begin: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      await replaceClient({
        dial: () => {
          begin();
          return given;
        },
      });
      const call = failure(client.info());
      await begun;
      await client.close();
      const late = await dialTo(address);
      give(late);
      await once(late, 'close');
      expect((await call).code).toBe('aborted');
    });
  });

  describe('when the connection breaks', () => {
    it('says so of every call that was under way', async () => {
      info = () => undefined;
      wait = (call) => call.write({ options: { $case: 'stdOut', value: Buffer.from('a') } });
      const begun = new Promise<void>((resolve) => (onKept = resolve));
      const lease = client.keepAlive(NAME);
      const messages = client.waitProcess(NAME)[Symbol.asyncIterator]();
      const unary = failure(client.info());
      await messages.next();
      await begun;
      for (const socket of sockets) socket.destroy();
      const lost = { code: 'unavailable', isConnectionLost: true };
      expect(await unary).toMatchObject(lost);
      await expect(lease.closed).rejects.toMatchObject(lost);
      await expect(messages.next()).rejects.toMatchObject(lost);
    });

    it('connects again for the next call', async () => {
      await client.info();
      const [first] = sockets;
      first?.destroy();
      for (;;) {
        const result = await client.info().catch((error: unknown) => error);
        if (!(result instanceof WinsClientError)) {
          expect(result).toEqual(INFO);
          break;
        }
        expect(result.code).toBe('unavailable');
      }
    });
  });

  describe('the errors of the daemon', () => {
    const marked = (value: string) => {
      const metadata = new Metadata();
      metadata.set(ERROR_METADATA_KEY, value);
      return metadata;
    };

    it.each<[string, { code: status; details: string; metadata?: Metadata }, object]>([
      [
        'a refusal of ours by its status',
        { code: status.PERMISSION_DENIED, details: 'no rule', metadata: marked('pathNotAllowed') },
        { code: 'refused', reason: 'pathNotAllowed' },
      ],
      [
        'a refusal of a Go daemon',
        { code: status.INVALID_ARGUMENT, details: 'invalid path: not in the list' },
        { code: 'refused', reason: undefined },
      ],
      [
        'a refusal of ours in the words of a Go daemon',
        {
          code: status.INVALID_ARGUMENT,
          details: 'invalid path: no rule',
          metadata: marked('pathNotAllowed'),
        },
        { code: 'refused', reason: 'pathNotAllowed' },
      ],
      [
        'a bad request',
        { code: status.INVALID_ARGUMENT, details: 'no name' },
        { code: 'invalidRequest' },
      ],
      ['a missing file', { code: status.NOT_FOUND, details: 'x' }, { code: 'notFound' }],
      ['a second start', { code: status.ALREADY_EXISTS, details: 'x' }, { code: 'alreadyExists' }],
      [
        'a state',
        { code: status.FAILED_PRECONDITION, details: 'x' },
        { code: 'failedPrecondition' },
      ],
      [
        'a deadline',
        { code: status.DEADLINE_EXCEEDED, details: 'x' },
        { code: 'deadlineExceeded' },
      ],
      ['its own failure', { code: status.INTERNAL, details: 'x' }, { code: 'internal' }],
      [
        'an unknown method',
        { code: status.UNIMPLEMENTED, details: 'x' },
        { code: 'unimplemented' },
      ],
      ['one without a code of ours', { code: status.ABORTED, details: 'x' }, { code: 'unknown' }],
      [
        'a daemon that is stopping',
        {
          code: status.UNAVAILABLE,
          details: 'the daemon is stopping',
          metadata: marked('shuttingDown'),
        },
        { code: 'unavailable', isConnectionLost: false, reason: 'shuttingDown' },
      ],
      [
        'words of a lost connection in a marked error',
        { code: status.UNAVAILABLE, details: 'read ECONNRESET', metadata: marked('x') },
        { code: 'unavailable', isConnectionLost: false },
      ],
      [
        'the words of a Go transport that closes',
        { code: status.UNAVAILABLE, details: 'transport is closing' },
        { code: 'unavailable', isConnectionLost: true },
      ],
    ])('come with a code and the reason: %s', async (_what, sent, expected) => {
      start = (_call, done) => done(sent);
      const error = await failure(client.startProcess(REQUEST));
      expect(error).toMatchObject({ grpcCode: sent.code, details: sent.details, ...expected });
      expect(error.cause).toBeInstanceOf(Error);
      expect(error.message).toBe(`Start at ${address}: ${sent.details}`);
    });

    it.each([
      ['none', { code: status.INTERNAL, details: '' }, 'internal'],
      // nghttp2 drops a header field whose value ends with a blank.
      ['text that ends with a blank', { code: status.NOT_FOUND, details: ' ' }, 'notFound'],
    ])('say so when the daemon gave no reason: %s', async (_what, sent, code) => {
      start = (_call, done) => done(sent);
      expect(await failure(client.startProcess(REQUEST))).toMatchObject({
        code,
        details: `the call ended with gRPC status ${sent.code}, and the daemon gave no reason`,
      });
    });

    it('say that the daemon refused a request and did not process it', async () => {
      const asked: string[] = [];
      const refusing = http2.createServer().listen(`${address}-refusing`);
      refusing.on('stream', (stream, headers) => {
        asked.push(String(headers[':path']));
        stream.on('error', () => undefined).close(http2.constants.NGHTTP2_REFUSED_STREAM);
      });
      await once(refusing, 'listening');
      await replaceClient({ address: `${address}-refusing` });
      expect(await failure(client.startProcess(REQUEST))).toMatchObject({
        code: 'unavailable',
        isConnectionLost: false,
        reason: 'streamRefused',
        details: 'the daemon refused the request and did not process it',
      });
      expect(asked.length).toBeGreaterThan(0);
      await client.close();
      await new Promise((resolve) => refusing.close(resolve));
    });

    it('come after the messages that were sent before them', async () => {
      wait = (call) => {
        for (let count = 0; count < 40; count++) {
          call.write({ options: { $case: 'stdOut', value: Buffer.from([count]) } });
        }
        call.emit('error', { code: status.NOT_FOUND, details: 'gone' });
      };
      const seen: number[] = [];
      const read = async () => {
        for await (const { options } of client.waitProcess(NAME)) {
          if (options?.$case === 'stdOut') seen.push(options.value[0] ?? -1);
        }
      };
      await expect(read()).rejects.toMatchObject({ code: 'notFound' });
      expect(seen).toEqual([...Array(40).keys()]);
    });

    it('leave out a request that cannot be encoded: it is never sent', async () => {
      const exposes = [{ port: 2 ** 40, protocol: RunExposeProtocol.TCP }];
      const error = await failure(client.startProcess({ ...REQUEST, exposes }));
      expect(error).toMatchObject({ code: 'invalidRequest', method: 'Start' });
      expect(asked).toEqual([]);
    });

    it('include an answer without the data that it must have', async () => {
      info = (_call, done) => done(null, {});
      await expect(client.info()).rejects.toMatchObject({ code: 'internal' });
    });
  });

  describe('a signal', () => {
    it('that was aborted before starts no call', async () => {
      const signal = AbortSignal.abort(new Error('changed my mind'));
      const error = await failure(client.info({ signal }));
      expect(error).toMatchObject({ code: 'aborted', cause: new Error('changed my mind') });
      await expect(client.keepAlive(NAME, { signal }).closed).rejects.toMatchObject({
        code: 'aborted',
      });
      await expect(collect(client.waitProcess(NAME, { signal }))).rejects.toMatchObject({
        code: 'aborted',
      });
      expect(sockets.size).toBe(0);
    });

    it('cancels a call, on both sides', async () => {
      const controller = new AbortController();
      const cancelled = new Promise<void>((resolve) => {
        info = (call: ServerUnaryCall<Void, ApplicationInfoResponse>) => {
          call.on('cancelled', resolve);
          controller.abort();
        };
      });
      expect((await failure(client.info({ signal: controller.signal }))).code).toBe('aborted');
      await cancelled;
    });

    it('cancels a stream that is being read', async () => {
      const controller = new AbortController();
      wait = (call) => call.write({ options: { $case: 'stdOut', value: Buffer.from('a') } });
      const messages = client.waitProcess(NAME, controller)[Symbol.asyncIterator]();
      await messages.next();
      const next = messages.next();
      controller.abort();
      await expect(next).rejects.toMatchObject({ code: 'aborted' });
    });

    it('ends a lease', async () => {
      const controller = new AbortController();
      onKept = () => controller.abort();
      const lease = client.keepAlive(NAME, controller);
      await expect(lease.closed).rejects.toMatchObject({ code: 'aborted' });
      await leaseEnded;
    });

    it('does nothing to a call that has ended', async () => {
      const controller = new AbortController();
      await client.info(controller);
      controller.abort();
      await client.info();
    });
  });

  describe('waitProcess', () => {
    it('cancels the call when its reader leaves the loop', async () => {
      const cancelled = new Promise<void>((resolve) => {
        wait = (call) => {
          call.on('cancelled', resolve);
          call.write({ options: { $case: 'stdOut', value: Buffer.from('a') } });
        };
      });
      for await (const message of client.waitProcess(NAME)) {
        expect(message.options?.$case).toBe('stdOut');
        break;
      }
      await cancelled;
    });

    it('asks at once, before anybody reads', async () => {
      const called = new Promise<void>((resolve) => {
        wait = (call) => {
          resolve();
          call.end();
        };
      });
      const messages = client.waitProcess(NAME);
      await called;
      await expect(collect(messages)).resolves.toEqual([]);
    });

    it('holds up a daemon whose reader does not read', async () => {
      const chunk = Buffer.alloc(64 * 1024);
      let written = 0;
      const stalled = new Promise<void>((resolve) => {
        wait = (call) => {
          const more = () => {
            if (written === 1024) {
              call.end();
              return;
            }
            written++;
            if (call.write({ options: { $case: 'stdOut', value: chunk } })) more();
            else call.once('drain', more);
          };
          more();
          // Assumes that the server is stalled after 2000 turns of the event loop without progress.
          let last = -1;
          let still = 0;
          const look = () => {
            still = written === last ? still + 1 : 0;
            last = written;
            if (still < 2000) setImmediate(look);
            else resolve();
          };
          look();
        };
      });
      const messages = client.waitProcess(NAME)[Symbol.asyncIterator]();
      await messages.next();
      await stalled;
      expect(written * chunk.length).toBeLessThan(8 << 20);
      let received = 1;
      while ((await messages.next()).done !== true) received++;
      expect(received).toBe(1024);
    });

    it('refuses a message over 2 MiB', async () => {
      wait = (call) => {
        call.write({ options: { $case: 'stdOut', value: Buffer.alloc(2 * 1024 * 1024) } });
        call.end();
      };
      await expect(collect(client.waitProcess(NAME))).rejects.toMatchObject({
        grpcCode: status.RESOURCE_EXHAUSTED,
      });
    });
  });

  describe('keepAlive', () => {
    it('resolves when the daemon ends it', async () => {
      const lease = client.keepAlive(NAME);
      await lease.end();
      expect(kept).toEqual([{ data: NAME }]);
      await expect(lease.end()).resolves.toBeUndefined();
    });

    it('resolves with the failure of a daemon that cannot clean up', async () => {
      cleanUp = (done) => done({ code: status.INTERNAL, details: 'no firewall' });
      const lease = client.keepAlive(NAME);
      const expected = { code: 'internal', details: 'no firewall' };
      expect(await lease.end()).toMatchObject(expected);
      await expect(lease.closed).rejects.toMatchObject(expected);
    });

    it('sends the name again every five minutes, until it ends', async () => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
      try {
        for (let beats = 0; beats < 3; beats++) {
          const beat = new Promise<void>((resolve) => (onKept = resolve));
          if (beats === 0) client.keepAlive(NAME);
          else jest.advanceTimersByTime(5 * 60 * 1000);
          await beat;
          expect(kept.length).toBe(beats + 1);
        }
        expect(kept[2]).toEqual({ data: NAME });
        await client.close();
        expect(jest.getTimerCount()).toBe(0);
      } finally {
        jest.useRealTimers();
      }
    });
  });

  describe('close', () => {
    it('cancels what is under way, closes the connection, and may be called again', async () => {
      info = () => undefined;
      const begun = new Promise<void>((resolve) => (onKept = resolve));
      const lease = client.keepAlive(NAME);
      const unary = failure(client.info());
      await begun;
      const closed = [...sockets].map((socket) => once(socket, 'close'));
      await Promise.all([client.close(), client.close()]);
      expect((await unary).code).toBe('aborted');
      await expect(lease.closed).rejects.toMatchObject({ code: 'aborted' });
      await Promise.all(closed);
      await leaseEnded;
    });

    it('refuses later calls', async () => {
      await client.close();
      await expect(client.info()).rejects.toMatchObject({ code: 'failedPrecondition' });
      await expect(client.keepAlive(NAME).closed).rejects.toMatchObject({
        code: 'failedPrecondition',
      });
      await expect(collect(client.waitProcess(NAME))).rejects.toMatchObject({
        code: 'failedPrecondition',
      });
    });

    it('cuts a connection whose other side does not let go', async () => {
      const held = net.createServer({ allowHalfOpen: true }, (socket) => sockets.add(socket));
      const other = `${address}-held`;
      held.listen(other);
      await once(held, 'listening');
      await replaceClient({ address: other, connectTimeoutMs: 60_000 });
      const accepted = once(held, 'connection');
      const call = failure(client.info());
      await accepted;
      await client.close();
      expect((await call).code).toBe('aborted');
      held.close();
    });

    it('does not wait for a server that is still being judged, and tells who judges to give up', async () => {
      let judging: (closed: AbortSignal) => void = () => undefined;
      const begun = new Promise<AbortSignal>((resolve) => (judging = resolve));
      await replaceClient({
        dial: (closed) => {
          judging(closed);
          return new Promise(() => undefined);
        },
      });
      const call = failure(client.info());
      const closed = await begun;
      await client.close();
      expect((await call).code).toBe('aborted');
      expect(closed.aborted).toBe(true);
    });
  });
});
