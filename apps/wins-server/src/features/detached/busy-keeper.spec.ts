import { privateTransport } from '@wins/pipe-transport';
import type { ClientIdentity, ProcessHost } from '@wins/base';
import {
  createProcessManager,
  DetachedRuns,
  Keeper,
  newPlan,
  ProcessError,
  startKeeper,
  type DetachedEvent,
  type DetachedRun,
  type KeeperTransport,
  type ProcessManager,
} from '@wins/process-manager';
import {
  createPrivateDirectory,
  writeTestProgram,
  type PrivateDirectory,
  type TestProgram,
} from '@wins/process-manager/testing';
import { systemClock, type Clock } from '@wins/time';
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { posixProcessHost } from '../../posix.js';

const ROOT: ClientIdentity = {
  key: 'uid:0',
  isAdministrator: true,
  isEverybody: false,
  description: {},
  names: ['administrators'],
};
/** Starts no keeper, but prints the record of a keeper that already serves. */
const STARTER = `process.stdout.write(require('fs').readFileSync(__dirname + '/record') + '\\n')`;

describe('runs that last, and their keeper', () => {
  const host = posixProcessHost();
  const transport = privateTransport();
  let directory: PrivateDirectory;
  let program: TestProgram;
  let manager: ProcessManager;
  let runs: DetachedRuns;
  let events: DetachedEvent[];
  let keepers: Keeper[];

  beforeEach(async () => {
    keepers = [];
    directory = createPrivateDirectory();
    program = writeTestProgram(directory.path, 'tool', 'exec sleep 60', '/bin/sh');
    writeFileSync(path.join(directory.path, 'starter.cjs'), STARTER);
    await startDaemon();
  });
  afterEach(async () => {
    await runs.close();
    for (const keeper of keepers) {
      keeper.endAll();
      await keeper.over;
      await keeper.close();
    }
    await manager.close();
    directory.close();
  });

  async function startDaemon(by: KeeperTransport = transport, clock?: Clock): Promise<void> {
    const stateDirectory = path.join(directory.path, 'state');
    const grant = { maxRuns: 4, spoolBytes: 2 ** 20, maxAgeMs: 60_000 };
    const allowed = [{ path: program.path, detached: grant }];
    manager = createProcessManager({ allowed, host, stateDirectory });
    events = [];
    const starter = {
      file: process.execPath,
      args: [path.join(directory.path, 'starter.cjs')],
      env: {},
    };
    runs = new DetachedRuns(manager, {
      stateDirectory,
      host,
      keepers: { release: 'release', transport: by, start: () => startKeeper(starter) },
      onEvent: (event) => events.push(event),
      clock,
    });
    await runs.adopt();
  }

  /** @returns A function that lets the keeper answer. */
  async function startDaemonOfLateKeeper(): Promise<() => void> {
    let answer: () => void = () => undefined;
    const answers = new Promise<void>((resolve) => (answer = resolve));
    const late: KeeperTransport = {
      ...transport,
      connect: async (...given) => {
        await answers;
        return transport.connect(...given);
      },
    };
    // The time in which a keeper must answer is over at once.
    await startDaemon(late, { ...systemClock, wait: () => Promise.resolve() });
    return answer;
  }

  /** Runs in the order in which a daemon takes them over. */
  function runsByMark(): readonly [DetachedRun, DetachedRun] {
    const [first, second] = [...runs.list()].sort((a, b) =>
      a.facts.run.mark < b.facts.run.mark ? -1 : 1,
    );
    if (first === undefined || second === undefined) throw new Error('the runs are not listed');
    return [first, second];
  }

  async function serve(ofSystem: ProcessHost = host): Promise<Keeper> {
    const stateDirectory = path.join(directory.path, 'state');
    const facts = { stateDirectory, release: 'release', transport };
    const keeper = new Keeper({ ...facts, host: ofSystem });
    keepers.push(keeper);
    await keeper.listen();
    writeFileSync(path.join(directory.path, 'record'), JSON.stringify(keeper.record));
    return keeper;
  }
  function start(label: string, maxAgeMs?: number): Promise<string> {
    const disconnected = new AbortController().signal;
    const owner = { id: 'pipe:1', disconnected };
    const { path: file, sha256 } = program;
    const request = { path: file, sha256, args: [], envs: [] };
    const by = { requester: owner.id, client: ROOT };
    return runs.start(request, { by, name: label, maxAgeMs });
  }

  it('starts by another keeper when the one that it has ends at that moment', async () => {
    const first = await serve();
    await start('one');
    await serve();
    // The keeper is ending, but the daemon has not noticed this yet.
    first.endAll();
    await manager.list()[0]?.ended;
    expect(await start('two')).toBe('two');
    expect(runs.find('two', ROOT).process?.state.kind).toBe('running');
    await first.over;
  });

  it('leaves a keeper whose only start failed, which ends then', async () => {
    const failing = await serve({
      ...host,
      start: () => Promise.reject(new ProcessError('spawnFailed', 'cannot start it')),
    });
    await expect(start('one')).rejects.toMatchObject({ code: 'spawnFailed' });
    await failing.over;
    await serve();
    expect(await start('one')).toBe('one');
  });

  it('does not leave its keeper while another start is on its way to it', async () => {
    const keeper = await serve();
    let isOver = false;
    void keeper.over.then(() => (isOver = true));
    await start('one');
    const removed = runs.remove('one', { client: ROOT, requester: 'pipe:1' });
    // The label is free once the run has ended, just before the keeper becomes idle.
    await manager.list()[0]?.ended;
    const [second] = await Promise.all([start('two'), removed]);
    expect([second, isOver]).toEqual(['two', false]);
  });

  it('keeps the connection to a keeper that answers late while it takes over its runs', async () => {
    await serve();
    await start('one');
    await start('two');
    await runs.close();
    await manager.close();
    const answer = await startDaemonOfLateKeeper();
    // The run that is taken over first has ended by then.
    const [first, second] = runsByMark();
    const { mark } = first.facts.run;
    process.kill(first.facts.pid, 'SIGKILL');
    const end = path.join(directory.path, 'state', 'runs', mark, 'end.json');
    while (!existsSync(end)) await turn();
    answer();
    while (second.process === undefined) await turn();
    const stopped = await runs.stop(second.label);
    expect(first.end).toMatchObject({ mark, signal: 'SIGKILL', reason: 'exited' });
    expect(stopped).toMatchObject({ signal: 'SIGTERM', reason: 'stopped' });
  });

  it('takes over the other runs of a keeper that answers late when it cannot read one', async () => {
    await serve();
    await start('one');
    await start('two');
    await runs.close();
    await manager.close();
    const answer = await startDaemonOfLateKeeper();
    const [first, second] = runsByMark();
    const end = path.join(directory.path, 'state', 'runs', first.facts.run.mark, 'end.json');
    symlinkSync('/dev/null', end);
    answer();
    const isOver = () =>
      events.some(
        (event) =>
          event.type === 'noted' && /^(?:took over|cannot reach a keeper)/.test(event.text),
      );
    while (!isOver()) await turn();
    expect(second.process?.state.kind).toBe('running');
    rmSync(end);
  });

  it('refuses an impossible age before its keeper does, which would cost the other runs', async () => {
    await serve();
    await start('one');
    for (const maxAgeMs of [-1, 1.5, Number.NaN])
      await expect(start('two', maxAgeMs)).rejects.toMatchObject({ code: 'invalidArgument' });
    expect(runs.find('one', ROOT).process?.state.kind).toBe('running');
  });

  it('says why its keeper could not be started', async () => {
    rmSync(path.join(directory.path, 'starter.cjs'));
    await expect(start('one')).rejects.toMatchObject({
      code: 'stateUnavailable',
      message: expect.stringMatching(/its keeper could not be started: \S/) as string,
    });
  });

  it('leaves its keepers when it cannot read the runs, so that the next try takes them over', async () => {
    await serve();
    await start('one');
    await runs.close();
    await manager.close();
    const folder = path.join(directory.path, 'state', 'runs');
    const failing = startDaemon({
      ...transport,
      connect: async (...given) => {
        const socket = await transport.connect(...given);
        renameSync(folder, `${folder}.away`);
        writeFileSync(folder, '');
        return socket;
      },
    });
    await expect(failing).rejects.toMatchObject({ code: 'stateUnavailable' });
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    await startDaemon();
    expect(runs.find('one', ROOT).process?.state.kind).toBe('running');
  });

  it('ends a program that the config no longer keeps, although its keeper answers late', async () => {
    await serve();
    const request = { path: program.path, args: [], envs: [] };
    const grant = { maxRuns: 1, spoolBytes: 2 ** 20, maxAgeMs: 60_000 };
    const grantedBy = { path: program.path, detached: grant };
    runs.keep([{ label: 'keep:web', plan: newPlan('no', request, 'digest'), grantedBy }]);
    while (runs.list()[0]?.process === undefined) await turn();
    const { pid } = runs.find('keep:web', ROOT).facts;
    await runs.close();
    await manager.close();
    const answer = await startDaemonOfLateKeeper();
    answer();
    while (runs.list().length > 0) await turn();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('ends the runs of a keeper whose pipe another process serves, and says so in its log', async () => {
    await serve();
    await start('one');
    const { pid } = runs.find('one', ROOT).facts;
    await runs.close();
    await manager.close();
    const problem = 'the server of the pipe is another process';
    await startDaemon({
      ...transport,
      connect: () =>
        Promise.reject(Object.assign(new Error(problem), { code: 'securityUnavailable' })),
    });
    await manager.list()[0]?.ended;
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    const noted = events.flatMap((event) => (event.type === 'noted' ? [event] : []));
    expect(noted.find(({ level }) => level === 'error')?.facts).toMatchObject({ problem });
  });
});
