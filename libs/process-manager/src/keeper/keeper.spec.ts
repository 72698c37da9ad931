import { mayMount } from '@wins/base/testing';
import { quoteText, type ClientIdentity, type ProcessHost, type TreeLimits } from '@wins/base';
import type { Clock } from '@wins/time';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect as connectTo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { RunFolders } from '../supervision/run-folders.js';
import { type DetachedRecord } from '../supervision/run-record.js';
import { Spool } from '../output/spool.js';
import type { RunLimits } from '../supervision/managed-process.js';
import { realHost } from '../testing/manager-harness.js';
import { socketTransport } from '../testing/socket-transport.js';
import { Keeper } from './keeper.js';
import { KeeperConnection } from './keeper-connection.js';

const ignore = (): void => undefined;
const ROOT: ClientIdentity = {
  key: 'uid:0',
  isAdministrator: true,
  isEverybody: false,
  description: {},
  names: ['administrators'],
};

/** Longer than a test: what a test does not force to end is never killed meanwhile. */
const GRACE_MS = 60_000;
const DISK_BYTES = 2 * 1024 * 1024;
const SMALL_DISK = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=0700`, 'tmpfs'];

const onSmallDisk = mayMount() ? it : it.skip;
if (onSmallDisk === it.skip)
  process.stderr.write('SKIPPED: a keeper on a full disk, since none can be mounted\n');

describe('a keeper', () => {
  const host = realHost();
  const parts = { host, graceMs: GRACE_MS, transport: socketTransport };
  let folder: string;
  let folders: RunFolders;
  let keeper: Keeper;
  let isOver: boolean;
  const connections: KeeperConnection[] = [];
  const over = new AbortController();
  afterAll(() => over.abort());

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'k-'));
    folders = new RunFolders(folder);
    keeper = await startKeeper();
  });
  afterEach(async () => {
    keeper.endAll();
    for (const connection of connections.splice(0)) connection.close();
    await keeper.over;
    await keeper.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startKeeper(ofSystem: ProcessHost = host, more?: object): Promise<Keeper> {
    isOver = false;
    const made = new Keeper({
      stateDirectory: folder,
      host: ofSystem,
      release: 'r',
      transport: socketTransport,
      ...more,
    });
    void made.over.then(() => (isOver = true));
    await made.listen();
    return made;
  }
  async function connect(): Promise<KeeperConnection> {
    const connection = await KeeperConnection.open(keeper.record, parts, over.signal);
    connections.push(connection);
    return connection;
  }
  function runOf(mark: string) {
    const facts = { name: 'n', mark, path: '/p', entry: 'p', stagedPath: '/s', sha256: 'd' };
    const { key, isAdministrator, isEverybody } = ROOT;
    const owner = { key, isAdministrator, isEverybody, description: {}, names: ['administrators'] };
    const bounds = { spoolBytes: 2 ** 20, maxAgeMs: 1000 };
    return { version: 1 as const, label: 'web', run: facts, owner, ...bounds };
  }
  async function start(
    connection: KeeperConnection,
    script: string,
    written = ignore,
    bounds: {
      readonly limits?: TreeLimits;
      readonly means?: RunLimits['means'];
      readonly leaseMs?: number;
    } = {},
  ) {
    const { limits, leaseMs } = bounds;
    const means = bounds.means ?? (limits && host.limitMeans?.(limits));
    const mark = randomBytes(16).toString('hex');
    const { run, ...facts } = runOf(mark);
    const limited = limits && means && { limits: { ...limits, means } };
    const command = {
      mark,
      lineage: 'l',
      file: '/bin/sh',
      argv0: '/bin/sh',
      args: ['-c', script],
      env: { PATH: process.env['PATH'] ?? '' },
      directory: folder,
      mayBreakAway: false,
      ...(limits && { limits }),
    };
    const whole = {
      ...facts,
      run: { ...run, ...limited },
      ...(leaseMs !== undefined && { leaseMs }),
    };
    const tree = await connection.start(command, whole, outputTo(mark, written));
    if (tree === undefined) throw new Error('the keeper ends');
    return { mark, tree };
  }
  function outputTo(mark: string, written = ignore) {
    return { written, read: () => new Spool(folders.folderOf(mark)).read() };
  }
  async function outputOf(mark: string): Promise<string> {
    let text = '';
    for await (const part of new Spool(folders.folderOf(mark)).read())
      if (part.stream !== 'skipped') text += part.bytes.toString();
    return text;
  }

  it('starts a program, keeps both of its outputs, and writes down how it ended', async () => {
    const { mark, tree } = await start(await connect(), 'echo out; echo err >&2; exit 7');
    expect(tree.supervisor).toBe(host.daemon);
    const exit = await tree.ended;
    expect(exit).toEqual({ code: 7, reason: 'exited' });
    expect(tree.isGone).toBe(true);
    expect(tree.state).toEqual({ kind: 'ended', exit });
    expect((await outputOf(mark)).split('\n').sort()).toEqual(['', 'err', 'out']);
    const output = { stdoutBytes: 4, stderrBytes: 4, pauses: 0 };
    expect(await tree.measure()).toMatchObject({ output });
    const recorded = await folders.end(mark).read();
    expect(recorded?.livedMs).toBeGreaterThanOrEqual(0);
    expect(tree.recordedEnd).toEqual(recorded);
    expect(recorded).toMatchObject({
      code: 7,
      reason: 'exited',
      outputBytes: 8,
      figures: { output },
    });
    expect(await folders.run(mark).read()).toMatchObject({ pid: tree.pid, label: 'web' });
    expect(statSync(folders.folderOf(mark)).mode & 0o77).toBe(0);
  });

  it('keeps a program within its limits, by the means of which the daemon was told', async () => {
    const limits = { memoryBytes: 2 ** 28 };
    const connection = await connect();
    const script = 'grep -h "" /proc/self/cgroup; ulimit -d';
    const { mark, tree } = await start(connection, script, ignore, { limits });
    await tree.ended;
    expect(await outputOf(mark)).toMatch(/wins-run-|^262144$/m);
    expect(await folders.run(mark).read()).toMatchObject({ run: { limits } });
    const other = host.limitMeans?.(limits) === 'rlimit' ? 'cgroup' : 'rlimit';
    await expect(
      start(connection, 'exit 0', ignore, { limits, means: other }),
    ).rejects.toMatchObject({
      code: 'limitsUnavailable',
    });
    expect(await folders.marks()).toEqual([mark]);
  });

  it('writes down that a program ran out of memory, and tells that to the daemon and to the next', async () => {
    keeper.endAll();
    await keeper.over;
    await keeper.close();
    // Fakes the system's report of exhausted memory, because not every kernel gives this process a cgroup.
    keeper = await startKeeper({
      ...host,
      start: async (command) => {
        const started = await host.start(command);
        const exited = started.exited.then((exit) => ({ ...exit, outOfMemory: true as const }));
        return Object.defineProperty(started, 'exited', { value: exited });
      },
    });
    const first = await connect();
    const { mark, tree } = await start(first, 'trap "" TERM; sleep 30 & exit 137');
    const moved = { kind: 'stopping', reason: 'outOfMemory' };
    while (tree.state.kind === 'running') await turn();
    expect(tree.state).toEqual(moved);
    first.close();
    const second = await connect();
    const facts = (await folders.run(mark).read()) as DetachedRecord;
    const adopted = second.adopt(facts, outputTo(mark));
    expect(adopted.state).toEqual(moved);
    adopted.end('stopped', true);
    expect(await adopted.ended).toEqual({ code: 137, reason: 'outOfMemory' });
    expect(await folders.end(mark).read()).toMatchObject({ code: 137, reason: 'outOfMemory' });
  });

  it('goes on without a daemon, and tells the next one of what it has and of what ended', async () => {
    const first = await connect();
    const go = path.join(folder, 'go');
    let tell = ignore;
    const isReady = new Promise<void>((resolve) => (tell = resolve));
    const script = 'mkfifo go; echo ready; read line < go; echo "$line"; exit 3';
    const living = await start(first, script, () => tell());
    const ended = await start(first, 'exit 4; ');
    await ended.tree.ended;
    await isReady;
    first.close();
    const second = await connect();
    expect([second.has(living.mark), second.has(ended.mark)]).toEqual([true, false]);
    expect(await folders.end(ended.mark).read()).toMatchObject({ code: 4 });
    const facts = (await folders.run(living.mark).read()) as DetachedRecord;
    const adopted = second.adopt(facts, outputTo(living.mark));
    await writeFile(go, 'go on\n');
    expect(await adopted.ended).toEqual({ code: 3, reason: 'exited' });
    expect(await outputOf(living.mark)).toBe('ready\ngo on\n');
  });

  it('tells a daemon of a program that ended between two daemons and is not settled', async () => {
    const first = await connect();
    const { mark } = await start(first, 'trap "" TERM; (trap "" TERM; sleep 30) & exit 5');
    first.close();
    const second = await connect();
    const facts = (await folders.run(mark).read()) as DetachedRecord;
    const adopted = second.adopt(facts, outputTo(mark));
    while (adopted.state.kind === 'running') await turn();
    expect(adopted.state).toEqual({ kind: 'stopping', reason: 'exited' });
    // A remaining process ignores the request to end.
    adopted.end('stopped', true);
    expect(await adopted.ended).toEqual({ code: 5, reason: 'exited' });
    expect(await folders.end(mark).read()).toMatchObject({ code: 5, reason: 'exited' });
  });

  it('ends a tree when it is told to, and keeps the first reason', async () => {
    let tell = ignore;
    const isUp = new Promise<void>((resolve) => (tell = resolve));
    const script = 'sleep 60 & echo up; echo no >&2; sleep 60';
    const { mark, tree } = await start(await connect(), script, () => tell());
    await isUp;
    expect(tree.state.kind).toBe('running');
    let figures = await tree.measure();
    while (figures.output.stderrBytes !== 3) figures = await tree.measure();
    expect(figures.usage?.processes).toBeGreaterThan(1);
    expect(figures.output.stdoutBytes).toBe(3);
    tree.end('yielded');
    tree.end('stopped');
    const exit = { code: 143, signal: 'SIGTERM', reason: 'yielded' };
    expect(await tree.ended).toEqual(exit);
    expect(await folders.end(mark).read()).toMatchObject(exit);
  });

  it('kills a run that ignores the request to end, although the daemon that asked has gone', async () => {
    const { record } = keeper;
    const first = await KeeperConnection.open(record, { ...parts, graceMs: 50 }, over.signal);
    let tell = ignore;
    const isUp = new Promise<void>((resolve) => (tell = resolve));
    const script = 'trap "" TERM; echo up; while :; do sleep 0.1; done';
    const { mark, tree } = await start(first, script, () => tell());
    await isUp;
    tree.end('stopped');
    first.close();
    await keeper.over;
    const killed = { code: 137, signal: 'SIGKILL', reason: 'stopped' };
    expect(await folders.end(mark).read()).toMatchObject(killed);
  });

  it('ends when it is told to, after its runs have been ended and written down', async () => {
    const connection = await connect();
    const { mark } = await start(connection, 'sleep 60');
    void keeper.over.then(() => keeper.close());
    await connection.endAll(AbortSignal.timeout(30_000));
    expect(isOver).toBe(true);
    expect(await folders.end(mark).read()).toMatchObject({ reason: 'daemonStopping' });
    expect(await folders.living()).toEqual([]);
  });

  it('serves one daemon at a time: the next gets its turn when the first has gone', async () => {
    const first = await connect();
    let isSecond = false;
    const second = connect().then((connection) => {
      isSecond = true;
      return connection;
    });
    const { mark } = await start(first, 'sleep 60');
    await (
      await start(first, 'true')
    ).tree.ended;
    expect(isSecond).toBe(false);
    first.close();
    expect((await second).has(mark)).toBe(true);
  });

  it('starts nothing once it ends, and says so, and ends what it was starting', async () => {
    keeper.endAll();
    await keeper.over;
    await keeper.close();
    keeper = await startKeeper({
      ...host,
      start: async (command) => {
        const started = await host.start(command);
        keeper.endAll();
        return started;
      },
    });
    const connection = await connect();
    const { tree } = await start(connection, 'exec sleep 60');
    await expect(start(connection, 'exit 0')).rejects.toThrow('the keeper ends');
    expect(connection.isOpen).toBe(false);
    expect(await tree.ended).toMatchObject({ signal: 'SIGTERM', reason: 'daemonStopping' });
    await keeper.over;
    await keeper.close();
    keeper = await startKeeper();
    await connect();
  });

  it('is over when it was told to end during a start that then fails', async () => {
    keeper.endAll();
    await keeper.over;
    await keeper.close();
    keeper = await startKeeper({
      ...host,
      start: (command) => {
        keeper.endAll();
        return host.start({ ...command, file: path.join(folder, 'none') });
      },
    });
    await expect(start(await connect(), 'exit 0')).rejects.toMatchObject({ code: 'spawnFailed' });
    expect(isOver).toBe(true);
  });

  it('is waited for while it does not answer, for as long as it lives', async () => {
    const silent = path.join(folder, 'silent');
    const server = createServer((each) => each.resume()).listen(silent);
    const record = { ...keeper.record, socket: silent };
    let isAlive = true;
    const waiting = KeeperConnection.open(
      record,
      { ...parts, host: { ...host, isDaemonAlive: () => isAlive } },
      over.signal,
    );
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.destroy();
    // While the keeper is alive, the daemon retries. Once the keeper has died, its runs count as lost.
    isAlive = false;
    expect([(await waiting).isOpen, (await waiting).has('any')]).toEqual([false, true]);
    const abandoned = new AbortController();
    const until = KeeperConnection.open(record, parts, abandoned.signal);
    abandoned.abort();
    await expect(until).rejects.toBe(abandoned.signal.reason);
    server.close();
  });

  it('is over when it has neither a run nor a daemon, and leaves nothing but what is kept', async () => {
    const first = await connect();
    const { mark, tree } = await start(first, 'true');
    await tree.ended;
    expect(isOver).toBe(false);
    first.close();
    await keeper.over;
    await keeper.close();
    expect(await folders.keepers()).toEqual([]);
    expect(existsSync(keeper.record.socket)).toBe(false);
    expect(readdirSync(folders.folder)).toEqual([mark]);
    keeper = await startKeeper();
    await connect();
  });

  it('is not over while a run lives that no daemon follows', async () => {
    const first = await connect();
    const { mark } = await start(first, 'sleep 60');
    first.close();
    const second = await connect();
    expect([isOver, second.has(mark)]).toEqual([false, true]);
  });

  it('ends a run that a client holds when no daemon comes in time, and says why', async () => {
    const first = await connect();
    const { mark } = await start(first, 'sleep 60', ignore, { leaseMs: 1 });
    first.close();
    await keeper.over;
    expect(await folders.end(mark).read()).toMatchObject({
      signal: 'SIGTERM',
      reason: 'daemonStopping',
    });
  });

  it('has a run to itself once a daemon has left it, and the next daemon can end it', async () => {
    const first = await connect();
    const { mark, tree } = await start(first, 'sleep 60', ignore, { leaseMs: 60_000 });
    tree.leave();
    tree.end('ownerDisconnected', true);
    first.close();
    expect(tree.state.kind).toBe('running');
    const second = await connect();
    const adopted = second.adopt(
      (await folders.run(mark).read()) as DetachedRecord,
      outputTo(mark),
    );
    adopted.end('leaseEnded');
    expect(await adopted.ended).toMatchObject({ signal: 'SIGTERM', reason: 'leaseEnded' });
  });

  it('leaves a run that a client holds alone when a daemon has adopted it, and not by its coming alone', async () => {
    const first = await connect();
    const { mark } = await start(first, 'sleep 60', ignore, { leaseMs: 300 });
    const other = await start(first, 'sleep 60', ignore, { leaseMs: 300 });
    first.close();
    const second = await connect();
    const adopt = async (run: string) =>
      second.adopt((await folders.run(run).read()) as DetachedRecord, outputTo(run));
    const [adopted, unknown] = [await adopt(mark), await adopt(other.mark)];
    second.read(mark, 0);
    await unknown.ended;
    expect(await folders.end(other.mark).read()).toMatchObject({ reason: 'daemonStopping' });
    expect(adopted.state.kind).toBe('running');
  });

  it('lets a program that a client holds wait when its spool is full, and loses nothing that was not read', async () => {
    const connection = await connect();
    let tell = ignore;
    const written = (): void => tell();
    const all = 5 * 2 ** 20;
    const script = `head -c ${all} /dev/zero`;
    const { mark, tree } = await start(connection, script, written, { leaseMs: 60_000 });
    let end: number | undefined;
    void tree.ended.then(() => {
      end = all;
      tell();
    });
    // Wait long enough that an unpaused program would have ended.
    await (
      await start(connection, 'sleep 0.2')
    ).tree.ended;
    expect(end).toBeUndefined();
    let bytes = 0;
    const spool = new Spool(folders.folderOf(mark), {
      end: () => end,
      more: () => new Promise<void>((resolve) => (tell = resolve)),
    });
    for await (const part of spool.read()) {
      if (part.stream === 'skipped') throw new Error(`${part.bytes} bytes are missing`);
      bytes = part.offset + part.bytes.length;
      connection.read(mark, bytes);
    }
    expect(bytes).toBe(all);
  });

  it('disconnects callers that have no token, speak another protocol, or send an invalid message', async () => {
    const { record } = keeper;
    const wrong = { ...record, token: 'f'.repeat(64) };
    await expect(KeeperConnection.open(wrong, parts, over.signal)).rejects.toThrow(
      'found another token',
    );
    const frame = (text: string): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(text));
      return Buffer.concat([length, Buffer.from(text)]);
    };
    const hello = { kind: 'hello', protocol: 99, token: record.token };
    for (const bytes of [
      Buffer.from('ffffffff', 'hex'),
      frame('{'),
      frame('{"kind":"nothing"}'),
      frame(JSON.stringify(hello)),
      frame('{"kind":"measure","id":1,"mark":"00000000000000000000000000000000"}'),
    ]) {
      const socket = connectTo(record.socket);
      const closed = once(socket.resume(), 'close');
      socket.write(bytes);
      await closed;
    }
    await (
      await start(await connect(), 'true')
    ).tree.ended;
  });

  it('closes a connection that says nothing for 5 s, and no other', async () => {
    keeper.endAll();
    await keeper.over;
    await keeper.close();
    let end = ignore;
    const waits: number[] = [];
    const clock: Clock = {
      now: () => new Date(0),
      monotonicMs: () => 0,
      wait: (ms, { signal } = {}) => {
        waits.push(ms);
        return new Promise((resolve, reject) => {
          end = resolve;
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        });
      },
    };
    keeper = await startKeeper(host, { clock });
    const connection = await connect();
    const silent = connectTo(keeper.record.socket);
    const closed = once(silent.resume(), 'close');
    while (waits.length < 2) await turn();
    end();
    await closed;
    expect(waits).toEqual([5000, 5000]);
    await (
      await start(connection, 'true')
    ).tree.ended;
  });

  it('gives a program its outputs and variables, and neither its pipe nor its token', async () => {
    const connection = await connect();
    const script = 'for fd in /proc/$$/fd/*; do readlink $fd; done; echo; cat /proc/$$/environ';
    const { mark, tree } = await start(connection, script);
    await tree.ended;
    const [handles = '', variables = ''] = (await outputOf(mark)).split('\n\n');
    expect(handles).toContain('pipe:');
    expect(handles).not.toContain('socket:');
    const names = variables.split('\0').map((variable) => variable.split('=', 1)[0]);
    expect(names.toSorted()).toEqual(['', 'PATH', 'RANCHER_WINS_RUN']);
    expect(variables).not.toContain(keeper.record.token);
  });

  it('refuses a start that cannot be, and keeps nothing of it', async () => {
    const connection = await connect();
    const command = {
      mark: 'a'.repeat(32),
      lineage: 'l',
      file: path.join(folder, 'none'),
      argv0: 'none',
      args: [],
      env: {},
      directory: folder,
      mayBreakAway: false,
    };
    const output = outputTo(command.mark);
    await expect(connection.start(command, runOf(command.mark), output)).rejects.toMatchObject({
      code: 'spawnFailed',
    });
    expect(connection.isIdle).toBe(true);
    expect(await folders.marks()).toEqual([]);
  });

  it('refuses an attempt for whose end the disk has no space, and says so', async () => {
    const connection = await connect();
    const { mark: first, tree } = await start(connection, 'true');
    await tree.ended;
    const reserved = path.join(folders.folderOf(first), 'end.reserved');
    rmSync(reserved);
    symlinkSync('/dev/full', reserved);
    const mark = 'b'.repeat(32);
    const next = { ...runOf(mark), continues: { folder: first, outputBytes: 0 } };
    const command = {
      mark,
      lineage: 'l',
      file: '/bin/true',
      argv0: 'true',
      args: [],
      env: {},
      directory: folder,
      mayBreakAway: false,
    };
    await expect(connection.start(command, next, outputTo(first))).rejects.toMatchObject({
      code: 'stateUnavailable',
      message: `cannot start a run: the disk of ${quoteText(folders.folder)} is full (state folder). Free space there`,
    });
  });

  onSmallDisk(
    'never holds a program up when the disk is full, and tells how much it lost',
    async () => {
      const disk = path.join(folder, 'disk');
      mkdirSync(disk);
      execFileSync('/bin/mount', [...SMALL_DISK, disk]);
      const full = new Keeper({
        stateDirectory: disk,
        host,
        release: 'r',
        transport: socketTransport,
      });
      try {
        await full.listen();
        const connection = await KeeperConnection.open(full.record, parts, over.signal);
        connections.push(connection);
        const script = 'head -c 8388608 /dev/zero; echo the end; exit 3';
        const { mark, tree } = await start(connection, script);
        expect(await tree.ended).toEqual({ code: 3, reason: 'exited' });
        const kept = new RunFolders(disk);
        const outputBytes = 8388608 + 'the end\n'.length;
        const end = await kept.end(mark).read();
        expect(end).toMatchObject({ code: 3, reason: 'exited', outputBytes });
        const found = { stdout: 0, stderr: 0, skipped: 0 };
        const spool = new Spool(kept.folderOf(mark), { end: () => outputBytes });
        for await (const { stream, bytes } of spool.read())
          found[stream] += Buffer.isBuffer(bytes) ? bytes.length : bytes;
        expect(found.stdout + found.skipped).toBe(outputBytes);
        expect(found.skipped).toBeGreaterThan(outputBytes - DISK_BYTES);
      } finally {
        full.endAll();
        await full.over;
        await full.close();
        execFileSync('/bin/umount', [disk]);
      }
    },
  );

  it('tells that there is more of the output', async () => {
    let tell = (): void => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const connection = await connect();
    const { mark } = await start(connection, 'echo some; sleep 60', () => tell());
    await told;
    expect(await outputOf(mark)).toBe('some\n');
  });
});
