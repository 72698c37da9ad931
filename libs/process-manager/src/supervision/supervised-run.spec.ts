import { checkAllowedExecutables } from '../policy/executable-policy.js';
import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';

import type { DecisionRecord } from './decision-record.js';
import type { ManagedProcess } from './managed-process.js';
import type { ProcessManagerOptions } from '../manager-options.js';
import type { StartRequest } from '../start-request.js';
import {
  codeOf,
  isRunning,
  ManagerHarness,
  outputOf,
  requestFor,
  TestOwner,
  untilOutput,
} from '../testing/manager-harness.js';

const FOREVER = 'echo ready; exec sleep 1000';
const STUBBORN = 'trap "" TERM; echo ready; while :; do sleep 1; done';

describe('a supervised process', () => {
  let harness: ManagerHarness;

  beforeEach(() => {
    harness = new ManagerHarness();
  });

  afterEach(() => harness.close());

  async function startShell(
    source: string,
    options: Partial<ProcessManagerOptions> = {},
    overrides: Partial<StartRequest> = {},
  ): Promise<ManagedProcess> {
    const program = harness.program('tool', source);
    return harness.manager(['tool'], options).start(requestFor(program, overrides));
  }

  /** The script prints `pids: A B …;`. Returns these PIDs. */
  async function startFamily(source: string, options: Partial<ProcessManagerOptions> = {}) {
    const run = await startShell(source, options);
    const reader = run.read('pipe:1');
    const text = await untilOutput(reader, ';');
    reader.close();
    return { run, pids: (/pids: ([0-9 ]+);/.exec(text)?.[1] ?? '').split(' ').map(Number) };
  }

  it('stops gracefully when asked, and tells signal and reason', async () => {
    const run = await startShell(FOREVER);
    await untilOutput(run.read('pipe:1'), 'ready');
    await expect(run.stop('pipe:1')).resolves.toEqual({
      code: 143,
      signal: 'SIGTERM',
      reason: 'stopped',
    });
  });

  it('lets a program end in its own way within the grace time, and reports its code', async () => {
    // The script forks no child: between fork and exec a child would still have the shell's trap and ignore the signal.
    const run = await startShell('trap "echo bye; exit 9" TERM; echo ready; while :; do :; done');
    await untilOutput(run.read('pipe:1'), 'ready');
    await expect(run.stop('pipe:1')).resolves.toEqual({ code: 9, reason: 'stopped' });
    expect((await outputOf(run)).stdout).toBe('ready\nbye\n');
  });

  it('kills what ignores the request after the grace time', async () => {
    const run = await startShell(STUBBORN, { graceMs: 50 });
    await untilOutput(run.read('pipe:1'), 'ready');
    await expect(run.stop('pipe:1')).resolves.toEqual({
      code: 137,
      signal: 'SIGKILL',
      reason: 'stopped',
    });
    expect(isRunning(run.pid)).toBe(false);
  });

  it('kills at once what shall be forced, while it is being stopped, and keeps why it was', async () => {
    const run = await startShell(STUBBORN, { graceMs: 1e6 });
    await untilOutput(run.read('pipe:1'), 'ready');
    const released = run.holdLease('pipe:1').release();
    expect(() => run.stop('pipe:2', { force: true })).toThrow('another connection started it');
    await run.stop('pipe:1', { force: true });
    await expect(released).resolves.toEqual({
      code: 137,
      signal: 'SIGKILL',
      reason: 'leaseEnded',
    });
  });

  it('keeps the first cause when several ask for the end', async () => {
    const owner = new TestOwner();
    const run = await startShell(STUBBORN, { graceMs: 50 }, { owner });
    const lease = run.holdLease('pipe:1');
    const released = lease.release();
    owner.disconnect();
    const stopped = run.stop('pipe:1');
    await expect(released).resolves.toMatchObject({ reason: 'leaseEnded' });
    await expect(stopped).resolves.toMatchObject({ reason: 'leaseEnded' });
    await expect(lease.release()).resolves.toMatchObject({ reason: 'leaseEnded' });
  });

  it('reports the signal that somebody else sent (F3)', async () => {
    const run = await startShell(FOREVER);
    process.kill(run.pid, 'SIGKILL');
    await expect(run.ended).resolves.toEqual({ code: 137, signal: 'SIGKILL', reason: 'exited' });
  });

  it('ends the whole tree: children, and grandchildren in a session of their own (F3)', async () => {
    const { run, pids } = await startFamily(
      'sleep 1000 & a=$!; setsid sh -c "sleep 1000 & echo pids: $a $! \\$\\$ \\$!\\;; wait" & wait',
    );
    expect(pids.every((pid) => isRunning(pid))).toBe(true);
    expect(pids.length).toBeGreaterThanOrEqual(3);
    await run.stop('pipe:1');
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
  });

  it('ends what a leader that exits leaves behind, and still reports the leader (F3)', async () => {
    const { run, pids } = await startFamily(
      'sleep 1000 & a=$!; setsid sleep 1000 & echo "pids: $a $!;"; exit 5',
    );
    await expect(run.ended).resolves.toEqual({ code: 5, reason: 'exited' });
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
  });

  it('kills a stubborn grandchild that lost its parent and made a session of its own', async () => {
    const { run, pids } = await startFamily(
      `setsid sh -c 'trap "" TERM; echo "pids: $$;"; while :; do sleep 1; done' & sleep 1000`,
      { graceMs: 50 },
    );
    await run.stop('pipe:1');
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
  });

  it('ends a member of the session that has wiped its environment', async () => {
    const { run, pids } = await startFamily(
      `env -i /bin/sh -c 'echo "pids: $$;"; exec sleep 1000' & wait`,
    );
    process.kill(run.pid, 'SIGKILL');
    await run.ended;
    expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
  });

  it('gives up a pipe that a stranger holds open, after the grace time, and says so', async () => {
    // This process has no mark and no parent, and is in another session. So /proc does not show that it belongs to the run.
    const stranger = 'echo $$ >stranger; exec sleep 1000';
    const { run, pids } = await startFamily(
      `env -i /usr/bin/setsid -f /bin/sh -c '${stranger}'
       until [ -s stranger ]; do sleep 0.01; done; echo "pids: $(cat stranger);"; exec sleep 1000`,
      { graceMs: 100 },
    );
    await run.stop('pipe:1');
    expect(harness.events).toContainEqual(
      expect.objectContaining({ type: 'outputCutOff', mark: run.mark }),
    );
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  });

  it('stops when nobody takes the lease in time', async () => {
    const run = await startShell(FOREVER, { limits: { leaseTimeoutMs: 1 } });
    await expect(run.ended).resolves.toMatchObject({ reason: 'leaseNeverHeld' });
    await expect(codeOf(() => run.holdLease('pipe:1'))).resolves.toBe('leaseHeld');
  });

  it('stops when the owner disconnects, before and while the lease is held', async () => {
    for (const hold of [false, true]) {
      const owner = new TestOwner();
      const run = await startShell(FOREVER, {}, { owner });
      if (hold) run.holdLease('pipe:1');
      owner.disconnect();
      await expect(run.ended).resolves.toMatchObject({ reason: 'ownerDisconnected' });
    }
  });

  it('lets one holder have the lease, also after a program that ended at once', async () => {
    const run = await startShell('exit 4');
    await run.ended;
    const lease = run.holdLease('pipe:1');
    await expect(codeOf(() => run.holdLease('pipe:1'))).resolves.toBe('leaseHeld');
    await expect(lease.release()).resolves.toEqual({ code: 4, reason: 'exited' });
  });

  it('gives no lease without a record of it', async () => {
    let isFull = true;
    const onDecision = ({ action }: DecisionRecord) => {
      if (action === 'keepAlive' && isFull) throw new Error('the log is full');
    };
    const run = await startShell(FOREVER, { onDecision });
    await expect(codeOf(() => run.holdLease('pipe:1'))).resolves.toBe('auditUnavailable');
    isFull = false;
    await expect(run.holdLease('pipe:1').release()).resolves.toMatchObject({
      reason: 'leaseEnded',
    });
  });

  it('serves its own connection, and others only if they know the run id (A35)', async () => {
    const run = await startShell(FOREVER);
    const { runId } = run;
    const guessed = { runId: '0'.repeat(32) };
    await expect(codeOf(() => run.holdLease('pipe:2'))).resolves.toBe('notOwner');
    await expect(codeOf(() => run.read('pipe:2'))).resolves.toBe('notOwner');
    await expect(codeOf(() => run.read('pipe:2', guessed))).resolves.toBe('notOwner');
    await expect(codeOf(() => run.stop('pipe:2', guessed))).resolves.toBe('notOwner');
    expect(run.state.kind).toBe('running');
    await untilOutput(run.read('pipe:2', { runId }), 'ready');
    await expect(run.stop('pipe:2', { runId })).resolves.toMatchObject({ reason: 'stopped' });
  });

  it('passes every byte on, in order, to several readers (F22)', async () => {
    const program = harness.nodeProgram(
      'tool',
      `const fs = require('node:fs');
       const block = Buffer.from(Array.from({ length: 65536 }, (_, i) => (i * 7) & 255));
       for (let i = 0; i < 48; i += 1) fs.writeSync(i % 2 ? 1 : 2, block);
       fs.writeSync(1, Buffer.from([0, 255, 10, 13]));`,
    );
    const run = await harness.manager(['tool']).start(requestFor(program));
    const block = Buffer.from(Array.from({ length: 65536 }, (_, i) => (i * 7) & 255));
    const expected = Buffer.concat(Array<Buffer>(24).fill(block));
    const read = await Promise.all([outputOf(run), outputOf(run), outputOf(run)]);
    for (const { stdout, stderr, skipped } of read) {
      expect(skipped).toBe(0);
      expect(Buffer.from(stderr, 'latin1').equals(expected)).toBe(true);
      const tail = Buffer.from([0, 255, 10, 13]);
      expect(Buffer.from(stdout, 'latin1').equals(Buffer.concat([expected, tail]))).toBe(true);
    }
  });

  it('makes a child wait for a reader that stalls, in bounded memory, and loses nothing (F6)', async () => {
    const bytes = 24_000_000;
    const source = `const fs = require('node:fs');
      const block = Buffer.alloc(1_000_000, 'abcdefgh');
      for (let i = 0; i < ${bytes / 1_000_000}; i += 1) for (let at = 0; at < block.length; ) at += fs.writeSync(1, block, at);`;
    const program = harness.nodeProgram('tool', source);
    const run = await harness.manager(['tool']).start(requestFor(program));
    const stalled = run.read('pipe:1');
    const active = run.read('pipe:1');
    let [last, seen, quiet] = ['', 0, 0];
    const reading = (async () => {
      for await (const { stream, bytes } of active) {
        last = stream;
        seen += Buffer.isBuffer(bytes) ? bytes.length : 0;
        quiet = 0;
      }
    })();
    // Assume that the child is paused once the active reader gets nothing for 2,000 turns of the event loop.
    for (; seen === 0 || quiet < 2000; quiet += 1) {
      await new Promise(setImmediate);
      expect(seen).toBeLessThan(4_000_000);
    }
    expect(last).toBe('stdout');
    active.close();
    await reading;
    const hash = createHash('sha256');
    let total = 0;
    for await (const chunk of stalled) {
      if (chunk.stream !== 'stdout') throw new Error(`unexpected ${chunk.stream}`);
      total += chunk.bytes.length;
      hash.update(chunk.bytes);
    }
    expect(total).toBe(bytes);
    const expected = createHash('sha256');
    for (let i = 0; i < bytes / 1_000_000; i += 1)
      expected.update(Buffer.alloc(1_000_000, 'abcdefgh'));
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
    await expect(run.ended).resolves.toMatchObject({ code: 0 });
  });

  it('never blocks a child that nobody reads, and keeps the newest output', async () => {
    const run = await startShell('head -c 20000000 /dev/zero; echo last', {
      limits: { firstReaderMs: 1 },
    });
    await expect(run.ended).resolves.toMatchObject({ code: 0 });
    const { stdout, skipped } = await outputOf(run);
    expect(stdout.endsWith('\0last\n')).toBe(true);
    expect(stdout.length).toBeGreaterThanOrEqual(1024 * 1024);
    expect(stdout.length).toBeLessThanOrEqual(1024 * 1024 + 65536);
    expect(stdout.length + skipped).toBe(20_000_005);
  });

  it('reports the end only after the last byte, even to a reader that lags', async () => {
    // The log cannot keep all output, but the excess fits into the pipe, so the child can end before anyone reads.
    const run = await startShell('head -c 1100000 /dev/zero; echo end');
    const reader = run.read('pipe:1');
    await expect(run.ended).resolves.toMatchObject({ code: 0 });
    let total = 0;
    for (let part = await reader.next(); part !== undefined; part = await reader.next()) {
      if (part.stream === 'stdout') total += part.bytes.length;
    }
    expect(total).toBe(1_100_004);
  });

  it('leaves nothing after many short runs: no handle, listener, record or zombie (F21)', async () => {
    const program = harness.program('tool', 'echo hi');
    const manager = harness.manager(['tool'], { limits: { lingerMs: 0 } });
    const owner = new TestOwner();
    const runOnce = async () => {
      const run = await manager.start(requestFor(program, { owner }));
      const lease = run.holdLease('pipe:1');
      expect((await outputOf(run)).stdout).toBe('hi\n');
      await lease.release();
    };
    // Resources of other kinds belong to the test runner.
    const kinds = ['ProcessWrap', 'PipeWrap', 'Timeout'];
    const held = () =>
      process.getActiveResourcesInfo().filter((kind) => kinds.includes(kind)).length;
    const before = held();
    for (let i = 0; i < 20; i += 1) await runOnce();
    // Node closes the handles in a later turn of the event loop.
    while (held() > before) await new Promise(setImmediate);
    expect(getEventListeners(owner.disconnected, 'abort')).toEqual([]);
    expect(readdirSync(harness.runs)).toEqual([]);
    expect(manager.list()).toEqual([]);
  });
});

describe('a program whose entry says how it is asked to end', () => {
  let harness: ManagerHarness;
  beforeEach(() => {
    harness = new ManagerHarness();
  });
  afterEach(() => harness.close());

  it('gets that signal, and is killed if it does not end', async () => {
    const source = `trap 'echo term' TERM; trap 'echo quit; exit 4' QUIT; trap 'echo usr' USR1; echo ready; while :; do sleep 0.01; done`;
    const program = harness.program('tool', source);
    const outcomeOf = async (stopSignal: 'SIGQUIT' | 'SIGUSR1') => {
      const allowed = [{ path: program.path, stopSignal }];
      const manager = harness.manager([], { allowed, graceMs: 200 });
      const run = await manager.start(requestFor(program));
      const reader = run.read('pipe:1');
      await untilOutput(reader, 'ready');
      const exit = await run.stop('pipe:1');
      return [await untilOutput(reader, '\n'), exit.code];
    };
    expect(await outcomeOf('SIGQUIT')).toEqual(['quit\n', 4]);
    expect(await outcomeOf('SIGUSR1')).toEqual(['usr\n', 137]);
  });

  it.each([
    [
      'posix',
      { stopSignal: 'CTRL_BREAK' },
      'its "stopSignal" is CTRL_BREAK, which this system does not have',
    ],
    ['posix', { stopEvent: 'stop' }, 'it has "stopEvent", but this system has no events'],
    [
      'windows',
      { stopSignal: 'SIGTERM' },
      'its "stopSignal" is SIGTERM, which this system does not have',
    ],
    [
      'windows',
      { stopSignal: 'WM_CLOSE', stopEvent: 'stop' },
      'it has "stopSignal" and "stopEvent"',
    ],
  ] as const)('is faulty where the system cannot: %s %j', (dialect, stop, found) => {
    const path = dialect === 'windows' ? 'c:\\tools\\a.exe' : '/opt/a';
    expect(checkAllowedExecutables([{ path, ...stop }], dialect)).toMatchObject([
      { neverMatches: true, found },
    ]);
  });
});
