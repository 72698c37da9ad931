/**
 * Duties of every `ProcessHost`, as a list of named checks for any test runner:
 * `test.each(processHostContract(subject))('%s', async (_name, check) => check())`.
 *
 * Each check runs this Node as its program, so that the checks are the same on every system. The file is longer
 * than most, because it is the whole contract.
 */
import { canonicalPath, type HostCommand, type HostProcess, type ProcessHost } from '@wins/base';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProcessErrorCode } from '../process-error.js';
import { createPrivateDirectory } from './private-directory.js';

export interface ProcessHostSubject {
  readonly host: ProcessHost;
  /**
   * True when the host finds processes of earlier daemons, and also descendants that started their own session. False
   * on POSIX without `/proc`.
   */
  readonly findsDescendants: boolean;
  /** Figures that the host measures: `nothing` without `/proc`; `memory` under Wine, where processor time is 0. */
  readonly measures: 'all' | 'memory' | 'nothing';
}

type Check = (subject: ProcessHostSubject, directory: string) => Promise<void>;

/** Lists the checks, each a name and a function that rejects on failure. */
export function processHostContract(
  subject: ProcessHostSubject,
): readonly (readonly [name: string, check: () => Promise<void>])[] {
  const applicable = { ...ALWAYS, ...(subject.findsDescendants ? WITH_DESCENDANTS : {}) };
  return Object.entries(applicable).map(([name, check]) => [
    name,
    async () => {
      const directory = createPrivateDirectory();
      try {
        await check(subject, directory.path);
      } finally {
        directory.close();
      }
    },
  ]);
}

const FOREVER = 'console.log("ready"); setInterval(() => {}, 1e9)';
/** Starts a descendant that has its own session and prints a line to the same stdout. */
const WITH_DESCENDANT = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(FOREVER)}],
  { detached: true, stdio: ['ignore', 'inherit', 'ignore'] })`;

const ALWAYS: Readonly<Record<string, Check>> = {
  'starts a program with its arguments, environment and folder, and gives output and exit code':
    async ({ host }, directory) => {
      const script =
        'console.log(JSON.stringify([process.argv0, process.argv.slice(1), process.env.WORD, process.cwd()]));' +
        'console.error("oops"); process.exit(7)';
      const args = ['a b', '', 'say "hi"', 'tail\\', 'grüße 😀', '$HOME', '%PATH%'];
      const argv0 = path.join(directory, 'original');
      const run = await start(host, directory, script, { args, argv0, env: { WORD: 'ü=1' } });
      const [stdout, stderr, exit] = await Promise.all([
        text(run.stdout),
        text(run.stderr),
        run.exited,
      ]);
      assert.deepEqual(JSON.parse(stdout), [argv0, args, 'ü=1', directory]);
      assert.equal(stderr, 'oops\n');
      assert.deepEqual(exit, { code: 7 });
      run.close();
    },

  'gives the outputs of several programs at once when it may reuse its buffer': async (
    { host },
    directory,
  ) => {
    const words = ['first', 'second'];
    const reused = { reusesBuffer: true };
    const outputs = words.map(async (word) => {
      const script = `for (const to of ['stdout', 'stderr']) process[to].write((${JSON.stringify(word)} + to).repeat(50_000))`;
      const run = await host.start(commandOf(directory, script), reused);
      // Let the program start to write before anybody reads.
      await nextTurn();
      const ended = [run.stdout, run.stderr].map(async (output) => {
        let read = '';
        output.on('data', (bytes: Buffer) => (read += bytes.toString('latin1'))).resume();
        await new Promise((resolve) => output.once('close', resolve));
        return read;
      });
      const both = await Promise.all(ended);
      run.close();
      return both;
    });
    const expected = words.map((word) =>
      ['stdout', 'stderr'].map((to) => `${word}${to}`.repeat(50_000)),
    );
    assert.ok(JSON.stringify(await Promise.all(outputs)) === JSON.stringify(expected));
  },

  'knows a process by PID and start token, and that it has ended': async ({ host }, directory) => {
    assert.equal(host.isDaemonAlive(host.daemon), true);
    const run = await start(host, directory, FOREVER);
    const identity = `${run.pid}:${run.startToken}`;
    await firstOutput(run);
    assert.equal(host.isDaemonAlive(identity), true);
    await end(run);
    assert.equal(host.isDaemonAlive(identity), false);
  },

  'ends a program by force, again and again': async ({ host }, directory) => {
    const run = await start(host, directory, FOREVER);
    await firstOutput(run);
    assert.equal(await run.isGone(), false);
    await end(run);
    await run.terminate('force');
    await run.terminate('graceful');
    assert.equal(await run.isGone(), true);
    run.close();
  },

  'measures what a program uses, and keeps its processor time': async (
    { host, measures },
    directory,
  ) => {
    const run = await start(
      host,
      directory,
      "process.stdout.write('ready', () => { for (;;) Math.random(); })",
    );
    await firstOutput(run);
    const first = await run.usage();
    let usage = first;
    while (measures === 'all' && usage !== undefined && usage.cpuMs < (first?.cpuMs ?? 0) + 50) {
      usage = await run.usage();
    }
    // End the program first: if an assertion failed, the program would run forever.
    await end(run);
    const last = await run.usage();
    run.close();
    if (measures === 'nothing') {
      assert.deepEqual([first, last], [undefined, undefined]);
      return;
    }
    assert.ok(first !== undefined && usage !== undefined && last !== undefined);
    const { memoryBytes } = first;
    assert.ok(memoryBytes > 1024 * 1024 && memoryBytes < 2 ** 40, `${memoryBytes} bytes`);
    assert.deepEqual([first.processes, last.processes, last.memoryBytes], [1, 0, 0]);
    assert.ok(last.cpuMs >= usage.cpuMs, `${usage.cpuMs} ms became ${last.cpuMs} ms`);
  },

  'fails to start what is missing, or is a folder': async ({ host }, directory) => {
    for (const file of [path.join(directory, 'none.exe'), directory]) {
      await fails(start(host, directory, '', { file }), 'spawnFailed', file);
    }
  },

  'says that arguments are too long': async ({ host }, directory) => {
    await fails(
      start(host, directory, '', { args: ['a'.repeat(200_000)] }),
      'invalidArgument',
      process.execPath,
    );
  },

  'trusts a file and a folder of our own, and nothing else': async ({ host }, folder) => {
    const directory = canonicalPath(folder);
    const file = canonicalPath(path.join(directory, 'tool'));
    writeFileSync(file, '', { mode: 0o755 });
    await host.assertTrustedFile(file);
    await host.assertTrustedDirectory(directory);
    await fails(host.assertTrustedFile(directory), 'pathNotTrusted', directory);
    await fails(host.assertTrustedDirectory(file), 'pathNotTrusted', file);
    const missing = canonicalPath(path.join(directory, 'none'));
    await fails(host.assertTrustedFile(missing), 'notFound', missing);
    await fails(host.assertTrustedDirectory(missing), 'notFound', missing);
  },

  'makes a private folder once, and none where a file is': ({ host }, directory) => {
    const folder = path.join(directory, 'state', 'runs');
    host.ensurePrivateDirectory(folder);
    host.ensurePrivateDirectory(folder);
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    return fails(
      new Promise<void>((resolve) => {
        host.ensurePrivateDirectory(file);
        resolve();
      }),
      'stateUnavailable',
      file,
    );
  },

  'keeps others from changing a file that it holds, where it can hold one': async (
    { host },
    directory,
  ) => {
    if (host.holdFile === undefined) return;
    const file = path.join(directory, 'held');
    writeFileSync(file, 'before');
    const held = await host.holdFile(file);
    assert.throws(() => writeFileSync(file, 'after'));
    held.close();
    held.close();
    writeFileSync(file, 'after');
    const missing = path.join(directory, 'none');
    await fails(host.holdFile(missing), 'stagingFailed', missing);
  },
};

const WITH_DESCENDANTS: Readonly<Record<string, Check>> = {
  'ends descendants in sessions of their own with the program': async ({ host }, directory) => {
    const run = await start(host, directory, `${WITH_DESCENDANT}; setInterval(() => {}, 1e9)`);
    await firstOutput(run);
    await end(run);
  },

  'measures descendants in sessions of their own too': async ({ host }, directory) => {
    const run = await start(host, directory, `${WITH_DESCENDANT}; setInterval(() => {}, 1e9)`);
    await firstOutput(run);
    const usage = await run.usage();
    await end(run);
    run.close();
    assert.equal(usage?.processes, 2);
  },

  'is not gone while a descendant runs, and ends that too': async ({ host }, directory) => {
    const script = `${WITH_DESCENDANT}.once('spawn', () => process.exit(5))`;
    const run = await start(host, directory, script);
    await firstOutput(run);
    assert.equal((await run.exited).code, 5);
    assert.equal(await run.isGone(), false);
    await end(run);
  },

  'finds by its record what still runs, and never by its PID alone': async (
    { host },
    directory,
  ) => {
    const run = await start(host, directory, FOREVER);
    await firstOutput(run);
    const { pid, startToken } = run;
    const search = (token: string) =>
      host.findLeftovers({
        executables: [],
        remembered: [{ mark: MARK, pid, startToken: token }],
      });
    assert.deepEqual(await search(startToken.replace(/^\d+/, '17')), []);
    const [found, ...others] = await search(startToken);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [found?.pid, found?.evidence, found?.mark, found?.claimed],
      [pid, 'record', MARK, false],
    );
    assert.equal(await found?.isGone(), false);
    await found?.terminate('force');
    await run.exited;
    while (!(await found?.isGone())) await nextTurn();
    assert.deepEqual(await search(startToken), []);
    run.close();
  },

  'claims the process that the search spares, and never by its PID alone': async (
    { host },
    directory,
  ) => {
    const run = await start(host, directory, FOREVER);
    await firstOutput(run);
    const { pid, startToken } = run;
    const remembered = [{ mark: MARK, pid, startToken }];
    for (const [spared, claimed] of [
      [undefined, false],
      [String(pid), false],
      [`${pid}:${startToken.replace(/^\d+/, '17')}`, false],
      [`${pid}:${startToken}`, true],
    ] as const) {
      const [found] = await host.findLeftovers({ executables: [], remembered, spared });
      assert.deepEqual([found?.pid, found?.claimed], [pid, claimed]);
    }
    await end(run);
  },

  'never finds itself': async ({ host }) => {
    const found = await host.findLeftovers({ executables: [process.execPath], remembered: [] });
    assert.ok(found.every(({ pid }) => pid !== process.pid));
  },
};

/** Random: an end by mark must not end the programs of another run of these checks on the same host. */
const MARK = randomBytes(16).toString('hex');

function start(host: ProcessHost, ...command: Parameters<typeof commandOf>): Promise<HostProcess> {
  return host.start(commandOf(...command));
}

function commandOf(
  directory: string,
  script: string,
  overrides: Partial<HostCommand> = {},
): HostCommand {
  const { args = [], env, ...others } = overrides;
  // Without SystemRoot, a program on Windows cannot use sockets.
  const { SystemRoot } = process.env;
  return {
    mark: MARK,
    lineage: 'cd'.repeat(8),
    file: process.execPath,
    argv0: process.execPath,
    args: ['-e', script, '--', ...args],
    env: { ...(SystemRoot !== undefined && { SystemRoot }), ...env },
    directory,
    mayBreakAway: false,
    ...others,
  };
}

/** The output may come from a descendant with the same stdout. */
function firstOutput({ stdout }: HostProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.once('data', () => resolve());
    stdout.once('end', () => reject(new Error('the program ended without a word')));
  });
}

/** The end of stdout shows that its last writer has ended. */
async function end(run: HostProcess): Promise<void> {
  const ended = new Promise((resolve) => run.stdout.once('end', resolve));
  await run.terminate('force');
  await run.exited;
  await ended;
  while (!(await run.isGone())) await nextTurn();
}

async function fails(action: Promise<unknown>, code: ProcessErrorCode, at: string): Promise<void> {
  await assert.rejects(action, { name: 'ProcessError', code, path: at });
}
