import { EVERYBODY } from '@wins/base';
import { failingCallbacks } from '@wins/base/testing';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandRunner } from './commands/command-runner.js';
import { openDetachedRuns } from './detached/open-detached-runs.js';
import { ProcessOutput } from './output/process-output.js';
import { Spool } from './output/spool.js';
import { SpoolWriter, type SpoolWriterOptions } from './output/spool-writer.js';
import { superviseProgram } from './supervise-program.js';
import { LocalTree } from './supervision/supervised-tree.js';
import { ManagerHarness, outputOf, realHost, requestFor } from './testing/manager-harness.js';
import { socketTransport } from './testing/socket-transport.js';

describe('processes run on when a callback fails:', () => {
  let harness: ManagerHarness;
  beforeEach(() => {
    harness = new ManagerHarness();
  });
  afterEach(() => harness.close());

  const hello = () => harness.program('hello', 'echo hello; exit 7');
  const unused = () => Promise.reject(new Error('no keeper is needed'));
  const ended = { code: 7, reason: 'exited' };
  const common = () => ({
    argv0: 'sh',
    args: ['-c', 'echo hello; exit 7'],
    env: {},
    directory: harness.directory.path,
    mark: 'a'.repeat(32),
    lineage: 'callbacks',
  });

  /** Writes more than waits for the disk at once. */
  async function write(options: Partial<SpoolWriterOptions>): Promise<void> {
    const folder = mkdtempSync(path.join(harness.directory.path, 'spool-'));
    const writer = new SpoolWriter({ folder, maxBytes: 64 * 1024 * 1024, ...options });
    for (let index = 0; index < 100; index += 1) writer.append('stdout', Buffer.alloc(64 * 1024));
    await writer.close();
    expect(writer.isBehind).toBe(false);
    using reader = new Spool(folder, { end: () => writer.offset }).read();
    let bytes = 0;
    for await (const part of reader) if (part.stream !== 'skipped') bytes += part.bytes.length;
    expect(bytes).toBe(100 * 64 * 1024);
  }

  it.each(
    failingCallbacks({
      'createProcessManager.onEvent': async (callback) => {
        const program = hello();
        const run = await harness
          .manager(['hello'], { onEvent: callback })
          .start(requestFor(program));
        expect(await outputOf(run)).toMatchObject({ stdout: 'hello\n' });
        expect(await run.ended).toEqual(ended);
      },
      'superviseProgram.onEnd': async (callback) => {
        const { path: file } = harness.program(
          'fails-once',
          'test -e "$0.started" && exit 0; : > "$0.started"; exit 7',
        );
        const supervised = superviseProgram(harness.manager(['fails-once']), {
          path: file,
          restart: 'onFailure',
          backoff: { initialMs: 1, maxMs: 1 },
          onEnd: callback,
        });
        expect(await supervised).toMatchObject({ code: 0 });
      },
      'openDetachedRuns.onEvent': async (callback) => {
        const program = hello();
        // The record of a run that ended with its keeper.
        const mark = 'a'.repeat(32);
        const state = path.join(harness.directory.path, 'unattended');
        const record = path.join(state, 'runs', mark, 'run.json');
        mkdirSync(path.dirname(record), { recursive: true, mode: 0o700 });
        const run = { name: 'n', mark, entry: 'p', stagedPath: '/s', sha256: 'd', path: '/p' };
        const process = { supervisor: 'gone', pid: 2, startToken: 'gone', startedAtMs: 0 };
        const bounds = { spoolBytes: 1024, maxAgeMs: 60_000 };
        const owner = EVERYBODY;
        const facts = { version: 1, label: 'web', run, owner, ...process, ...bounds };
        writeFileSync(record, JSON.stringify(facts), { mode: 0o600 });
        const runs = await openDetachedRuns({
          allowed: [{ path: program.path }],
          stateDirectory: state,
          host: realHost(),
          keepers: { release: '1', transport: socketTransport, start: unused },
          onEvent: callback,
        });
        await runs.close();
      },
      'CommandRunner.onOutput': async (callback) => {
        await using runner = new CommandRunner({
          host: realHost(),
          stateDirectory: harness.stateDirectory,
        });
        const { args, env, directory } = common();
        const command = { file: '/bin/sh', args, env, directory, onOutput: callback };
        const exit = await runner.run(command, { signal: new AbortController().signal });
        expect(exit).toEqual({ code: 7 });
      },
      'LocalTree.onMoved': async (callback) => {
        const tree = new LocalTree(await realHost().start({ ...common(), file: '/bin/sh' }), {
          supervisor: 'callbacks',
          graceMs: 10_000,
          log: (source) => new ProcessOutput(65_536, source, 0),
          onMoved: callback,
        });
        expect(await tree.ended).toEqual(ended);
        expect(tree.isCutOff).toBe(false);
      },
      'SpoolWriter.onWritten': (callback) => write({ onWritten: callback }),
      'SpoolWriter.onCaughtUp': (callback) => write({ onCaughtUp: callback }),
    }),
  )('%s', (_name, play) => play());
});
