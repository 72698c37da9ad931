import type { HostCommand, HostProcess, ProcessHost } from '@wins/base';
import { observedProcess } from '@wins/base/testing';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import type { ProcessOwner } from './supervision/managed-process.js';
import { createProcessManager } from './process-manager.js';
import type { DecisionRecord } from './supervision/decision-record.js';
import {
  codeOf,
  isRunning,
  ManagerHarness,
  outputOf,
  realHost,
  requestFor,
  TestOwner,
  untilOutput,
} from './testing/manager-harness.js';
import type { ProcessManagerOptions } from './manager-options.js';
import { digestsOf } from './testing/index.js';

const FOREVER = 'echo ready; exec sleep 1000';

function holdingHost(): { host: ProcessHost; steps: string[]; commands: HostCommand[] } {
  const node = realHost();
  const steps: string[] = [];
  const commands: HostCommand[] = [];
  const host: ProcessHost = {
    ...node,
    holdFile: (file) => {
      steps.push(`hold ${file}`);
      const close = () => void steps.push('release');
      return Promise.resolve({ close, [Symbol.dispose]: close });
    },
    start: async (command) => {
      steps.push('start');
      commands.push(command);
      const started = await node.start(command);
      steps.push('started');
      return started;
    },
  };
  return { host, steps, commands };
}

describe('createProcessManager', () => {
  let harness: ManagerHarness;

  beforeEach(() => {
    harness = new ManagerHarness();
  });

  afterEach(() => harness.close());

  it('runs the verified copy, streams its output, and tells its exit code', async () => {
    const program = harness.program('tool.exe', 'echo "$0 $1 in $PWD"; echo oops >&2; exit 7');
    const manager = harness.manager(['tool.exe']);
    const run = await manager.start(requestFor(program, { args: ['a b'] }));
    expect(run).toMatchObject({
      name: 'rancher-wins-tool',
      path: program.path,
      sha256: program.sha256,
      stagedPath: path.join(harness.programs, 'rancher-wins-tool.exe'),
    });
    expect(run.runId).toMatch(/^[0-9a-f]{32}$/);
    await expect(outputOf(run)).resolves.toEqual({
      stdout: `${run.stagedPath} a b in ${harness.programs}\n`,
      stderr: 'oops\n',
      skipped: 0,
    });
    await expect(run.ended).resolves.toEqual({ code: 7, reason: 'exited' });
    expect(run.state).toEqual({ kind: 'ended', exit: { code: 7, reason: 'exited' } });
  });

  it('leaves the original where it is, so that a second start works as well as the first', async () => {
    const program = harness.program('tool', 'exit 3');
    const manager = harness.manager(['tool']);
    for (let i = 0; i < 3; i += 1) {
      const run = await manager.start(requestFor(program));
      await expect(run.ended).resolves.toMatchObject({ code: 3 });
    }
    expect(readdirSync(harness.programs).sort()).toEqual(['rancher-wins-tool', 'tool']);
  });

  it('runs nothing without a whitelist', async () => {
    const program = harness.program('tool', 'exit 0');
    const manager = harness.manager([]);
    await expect(codeOf(manager.start(requestFor(program)))).resolves.toBe('pathNotAllowed');
    expect(existsSync(path.join(harness.programs, 'rancher-wins-tool'))).toBe(false);
  });

  it('takes a new list for later starts and leaves alone what runs', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool']);
    const run = await manager.start(requestFor(program));
    manager.setAllowed([]);
    expect(run.state.kind).toBe('running');
    await run.stop('pipe:1');
    await expect(codeOf(manager.start(requestFor(program)))).resolves.toBe('pathNotAllowed');
  });

  it('refuses a second start of what runs, names who holds the name, and harms nothing (F23)', async () => {
    const program = harness.program('tool', FOREVER);
    mkdirSync(path.join(harness.programs, 'other'));
    const other = harness.program('other/tool', FOREVER);
    const manager = harness.manager(['tool', 'other/tool']);
    const run = await manager.start(requestFor(program));
    const second = manager.start(requestFor(other));
    await expect(second).rejects.toMatchObject({ code: 'alreadyRunning', path: program.path });
    await expect(second).rejects.toThrow(program.path);
    expect(run.state.kind).toBe('running');
    await run.stop('pipe:1');
    const next = await manager.start(requestFor(other));
    expect(next.path).toBe(other.path);
  });

  it('lets a start with the right checksum pass beside a flood with wrong ones (A55)', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool']);
    const attacker = new TestOwner('pipe:2');
    const wrong = requestFor(program, { sha256: '0'.repeat(64), owner: attacker });
    for (let round = 0; round < 5; round += 1) {
      const flood = Array.from({ length: 20 }, () => codeOf(manager.start(wrong)));
      const run = await manager.start(requestFor(program));
      const codes = new Set(await Promise.all(flood));
      codes.delete('alreadyRunning');
      expect([...codes]).toEqual(['checksumMismatch']);
      await run.stop('pipe:1');
    }
    expect(readdirSync(harness.programs).sort()).toEqual(['rancher-wins-tool', 'tool']);
  });

  describe('with slots that its owner shares', () => {
    /** One slot per client. `ends` maps each client to the function that ends its run. */
    function sharedSlots() {
      const ends = new Map<string, () => void>();
      const take = ({ client, id }: ProcessOwner, end: () => void) => {
        const key = client?.key ?? id;
        if (ends.has(key)) return undefined;
        ends.set(key, end);
        return () => void ends.delete(key);
      };
      return { ends, slots: { take, takeFileBytes: () => () => undefined } };
    }
    const client = { key: 'container a', description: {} };
    const owned = (id: string) => Object.assign(new TestOwner(id), { client });

    it('takes one before anything is done for a client, and gives it back (A55)', async () => {
      const request = (name: string) => requestFor(harness.program(name, FOREVER));
      const { slots } = sharedSlots();
      const manager = harness.manager(['one', 'two', 'three'], { slots });
      const run = await manager.start({ ...request('one'), owner: owned('pipe:1') });
      const second = { ...request('two'), owner: owned('pipe:2') };
      await expect(codeOf(manager.start(second))).resolves.toBe('tooManyProcesses');
      await expect(codeOf(manager.start(request('three')))).resolves.toBe('no error');
      await run.stop('pipe:1');
      await expect(codeOf(manager.start(second))).resolves.toBe('no error');
    });

    it('takes none for a start that the entries refuse, because it may cost another client a run', async () => {
      const { ends, slots } = sharedSlots();
      const manager = harness.manager(['one'], { slots });
      const starts = [
        requestFor(harness.program('unlisted', FOREVER)),
        requestFor(harness.program('one', FOREVER), { envs: ['NAME=value'] }),
      ].map((request) => codeOf(manager.start(request)));
      expect(ends.size).toBe(0);
      expect(await Promise.all(starts)).toEqual(['pathNotAllowed', 'envNotAllowed']);
    });

    it('ends the run whose slot is taken back', async () => {
      const { ends, slots } = sharedSlots();
      const manager = harness.manager(['one'], { slots });
      const program = harness.program('one', FOREVER);
      const run = await manager.start({ ...requestFor(program), owner: owned('pipe:1') });
      ends.get(client.key)?.();
      await expect(run.ended).resolves.toMatchObject({ reason: 'yielded' });
      expect(ends.size).toBe(0);
    });

    it('gives up the start whose slot is taken back', async () => {
      const { ends, slots } = sharedSlots();
      const manager = harness.manager(['one'], { slots });
      const program = harness.program('one', FOREVER);
      const start = manager.start({ ...requestFor(program), owner: owned('pipe:1') });
      ends.get(client.key)?.();
      await expect(codeOf(start)).resolves.toBe('tooManyProcesses');
      expect([ends.size, manager.list()]).toEqual([0, []]);
    });
  });

  it('lets exactly one of two simultaneous starts pass', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool']);
    const starts = [1, 2].map(() => manager.start(requestFor(program)));
    expect((await Promise.all(starts.map((start) => codeOf(start)))).sort()).toEqual([
      'alreadyRunning',
      'no error',
    ]);
    expect(manager.list()).toHaveLength(1);
  });

  it('refuses a changed file by checksum and by pin, whatever the client claims (A17)', async () => {
    const program = harness.program('tool', 'exit 0');
    const pinned = { path: program.path, sha256: [program.sha256] };
    const manager = harness.manager([], { allowed: [pinned] });
    await (
      await manager.start(requestFor(program))
    ).ended;
    const changed = harness.program('tool', 'exit 1');
    await expect(codeOf(manager.start(requestFor(program)))).resolves.toBe('checksumMismatch');
    await expect(codeOf(manager.start(requestFor(changed)))).resolves.toBe('digestNotPinned');
  });

  it('holds the copy from before its last check until the program runs, where the host can (A16)', async () => {
    const program = harness.program('tool', 'exit 3');
    const { host, steps } = holdingHost();
    const manager = harness.manager(['tool'], { host });
    const run = await manager.start(requestFor(program));
    expect(steps).toEqual([`hold ${run.stagedPath}`, 'start', 'started', 'release']);
    await expect(run.ended).resolves.toMatchObject({ code: 3 });
  });

  it('lets go of the copy when it is not run after all (A16)', async () => {
    const program = harness.program('tool', 'exit 3');
    const refused = holdingHost();
    const onDecision = () => {
      throw new Error('disk full');
    };
    const auditless = harness.manager(['tool'], { host: refused.host, onDecision });
    await expect(codeOf(auditless.start(requestFor(program)))).resolves.toBe('auditUnavailable');
    expect(refused.steps).toEqual([expect.stringMatching(/^hold/), 'release']);

    writeFileSync(program.path, '#!/\n');
    const failing = holdingHost();
    const manager = harness.manager(['tool'], { host: failing.host });
    const request = requestFor({ ...program, ...digestsOf(program.path) });
    await expect(codeOf(manager.start(request))).resolves.toBe('spawnFailed');
    expect(failing.steps).toEqual([expect.stringMatching(/^hold/), 'start', 'release']);
  });

  it('tells the host which programs may leave their tree: those whose rule says so', async () => {
    const program = harness.program('tool', 'exit 3');
    for (const mayBreakAway of [undefined, false, true]) {
      const { host, commands } = holdingHost();
      const allowed = [
        { path: program.path, ...(mayBreakAway === undefined ? {} : { mayBreakAway }) },
      ];
      const manager = harness.manager([], { host, allowed });
      await (
        await manager.start(requestFor(program))
      ).ended;
      expect(commands).toMatchObject([{ mayBreakAway: mayBreakAway ?? false }]);
    }
  });

  it('refuses a request without a well-formed checksum', async () => {
    const { path: file, sha1 } = harness.program('tool', 'exit 0');
    const manager = harness.manager(['tool']);
    const request = { path: file, args: [], envs: [], owner: new TestOwner() };
    await expect(codeOf(manager.start(request))).resolves.toBe('invalidArgument');
    await expect(codeOf(manager.start({ ...request, sha1: 'x' }))).resolves.toBe('invalidArgument');
    await expect(codeOf(manager.start({ ...request, sha1 }))).resolves.toBe('no error');
  });

  it('refuses a path through a symbolic link, though the link itself is listed (A7)', async () => {
    const program = harness.program('tool', 'exit 0');
    symlinkSync('tool', path.join(harness.programs, 'link'));
    const manager = harness.manager(['link']);
    const request = { ...requestFor(program), path: path.join(harness.programs, 'link') };
    await expect(codeOf(manager.start(request))).resolves.toBe('pathNotTrusted');
  });

  it('checks arguments, variables, ports and the directory before anything runs', async () => {
    const program = harness.program('tool', 'exit 0');
    const open = path.join(harness.directory.path, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const missing = path.join(harness.programs, 'missing');
    const directories = ['/', open, missing, program.path];
    const manager = harness.manager([], {
      allowed: [{ path: program.path, args: [['up'], []], directories }],
    });
    const code = (overrides: object) => codeOf(manager.start(requestFor(program, overrides)));
    await expect(code({ args: ['a\0b'] })).resolves.toBe('invalidArgument');
    await expect(code({ args: ['down'] })).resolves.toBe('argumentsNotAllowed');
    await expect(code({ args: Array(4097).fill('x') })).resolves.toBe('invalidArgument');
    await expect(code({ envs: ['A=1'] })).resolves.toBe('envNotAllowed');
    await expect(code({ envs: ['A'] })).resolves.toBe('invalidArgument');
    await expect(code({ envs: ['LD_PRELOAD=x'] })).resolves.toBe('envNotAllowed');
    await expect(code({ exposes: [{ protocol: 'tcp', port: 0 }] })).resolves.toBe(
      'invalidArgument',
    );
    await expect(code({ directory: 'relative' })).resolves.toBe('invalidArgument');
    await expect(code({ directory: '/no/such/place' })).resolves.toBe('directoryNotAllowed');
    await expect(code({ directory: missing })).resolves.toBe('directoryNotFound');
    await expect(code({ directory: program.path })).resolves.toBe('directoryNotFound');
    await expect(code({ directory: open })).resolves.toBe('pathNotTrusted');
    expect(harness.decisions.map(({ verdict }) => verdict)).not.toContain('allowed');
    await expect(code({ directory: '/', args: ['up'] })).resolves.toBe('no error');
  });

  it('starts a program only for the callers in its entry, as the system identifies them (A60)', async () => {
    const program = harness.program('tool', 'exit 0');
    const manager = harness.manager([], {
      allowed: [{ path: program.path }, { path: program.path, for: ['user:7', 'container:*'] }],
    });
    const start = (...callers: (readonly string[])[]) =>
      manager.start(
        requestFor(program, {
          owner: {
            id: 'pipe:1',
            label: 'user:7',
            disconnected: new AbortController().signal,
            ...(callers[0] && { client: { key: 'k', description: { uid: 7 }, names: callers[0] } }),
          },
        }),
      );
    for (const names of [[undefined], [[]], [['administrators', 'user:0']]] as const) {
      const refused = start(...(names[0] === undefined ? [] : [names[0]]));
      await expect(refused).rejects.toMatchObject({ code: 'callerNotAllowed' });
    }
    await expect(start(['user:8'])).rejects.toThrow(/for "user:8": [^]*"for" of the entry/);
    expect(harness.decisions.at(-1)).toMatchObject({
      verdict: 'refused',
      code: 'callerNotAllowed',
      rule: 'A60 caller not allowed',
    });
    await expect(start(['user:7'])).resolves.toMatchObject({ path: program.path });
  });

  it('gives the child a minimal environment, the operator’s variables and those that the entry grants (A21, A40, A41)', async () => {
    const program = harness.program('tool', 'env');
    const manager = harness.manager([], {
      allowed: [{ path: program.path, envs: ['A', 'BASH_ENV'] }],
      environment: { HOME: '/h', AWS_SECRET_ACCESS_KEY: 's3cret', NODE_OPTIONS: '--x' },
      processEnvironment: { ZONE: 'old' },
    });
    manager.setProcessEnvironment({ ZONE: 'a', LANG: 'C' });
    const run = await manager.start(requestFor(program, { envs: ['A=1', 'BASH_ENV=/b'] }));
    const lines = (await outputOf(run)).stdout
      .split('\n')
      .filter((line) => !/^(PWD|_)=/.test(line));
    const marker = lines.find((line) => line.startsWith('RANCHER_WINS_RUN='));
    expect(marker).toMatch(
      new RegExp(`^RANCHER_WINS_RUN=${run.mark}:[0-9a-f]{16}:${process.pid}:`),
    );
    expect(lines.filter((line) => line !== marker && line !== '').sort()).toEqual([
      'A=1',
      'BASH_ENV=/b',
      'HOME=/nonexistent',
      'LANG=C',
      'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'ZONE=a',
    ]);
  });

  it('gives the child no input, and no descriptor of ours', async () => {
    const program = harness.program('tool', 'readlink /proc/self/fd/0; readlink /proc/$$/fd/*');
    const secret = openSync(path.join(harness.directory.path, 'secret'), 'w+');
    const run = await harness.manager(['tool']).start(requestFor(program));
    const lines = (await outputOf(run)).stdout.split('\n');
    closeSync(secret);
    expect(lines[0]).toBe('/dev/null');
    // Only the script is open, because its interpreter reads it.
    const ours = lines.filter((line) => line.startsWith(harness.directory.path));
    expect(ours).toEqual([run.stagedPath]);
  });

  it('writes one audit record per decision, without arguments or values (A34)', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager([], { allowed: [{ path: program.path, envs: ['TOKEN'] }] });
    const owner = Object.assign(new TestOwner(), { label: 'pod a' });
    const secret = { args: ['--token=s3cret'], envs: ['TOKEN=s3cret', 's3cret'] };
    await codeOf(manager.start(requestFor(program, { owner, ...secret })));
    const run = await manager.start(
      requestFor(program, { owner, ...secret, envs: ['TOKEN=s3cret'] }),
    );
    run.read('pipe:1').close();
    run.holdLease('pipe:1');
    await codeOf(() => run.stop('pipe:2'));
    const { mark } = run;
    expect(harness.decisions).toMatchObject([
      {
        action: 'start',
        verdict: 'refused',
        code: 'invalidArgument',
        variables: ['TOKEN', ''],
      },
      {
        action: 'start',
        verdict: 'allowed',
        requester: 'pipe:1',
        clientSays: 'pod a',
        mark,
        path: program.path,
        rule: program.path,
        sha256: program.sha256,
        name: 'rancher-wins-tool',
        entry: 'tool',
        argumentCount: 1,
        variables: ['TOKEN'],
      },
      { action: 'wait', verdict: 'allowed', mark },
      { action: 'keepAlive', verdict: 'allowed', mark },
      { action: 'stop', verdict: 'refused', requester: 'pipe:2', code: 'notOwner', mark },
    ]);
    expect(JSON.stringify(harness.decisions)).not.toContain('s3cret');
    expect(JSON.stringify([harness.decisions, harness.events])).not.toContain(run.runId);
  });

  it('does not run what cannot be audited', async () => {
    const program = harness.program('tool', 'touch ran');
    const onDecision = () => {
      throw new Error('audit log is full');
    };
    const manager = harness.manager(['tool'], { onDecision });
    await expect(manager.start(requestFor(program))).rejects.toThrow('audit log is full');
    expect(existsSync(path.join(harness.programs, 'ran'))).toBe(false);
    await expect(manager.start(requestFor(program))).rejects.toThrow('audit log is full');
  });

  it('starts and stops nothing before its record is written', async () => {
    const program = harness.program('tool', 'touch ran; exec sleep 1000');
    const ran = path.join(harness.programs, 'ran');
    let settle = { written: (): void => undefined, failed: (_: Error): void => undefined };
    let told: () => void = () => undefined;
    const onDecision = ({ verdict, action }: DecisionRecord) => {
      if (verdict === 'refused' || (action !== 'start' && action !== 'stop')) return;
      told();
      return new Promise<void>((written, failed) => (settle = { written, failed }));
    };
    const decided = () => new Promise<void>((resolve) => (told = resolve));
    const manager = harness.manager(['tool'], { onDecision });

    let asked = decided();
    const refused = codeOf(manager.start(requestFor(program)));
    await asked;
    settle.failed(new Error('disk full'));
    await expect(refused).resolves.toBe('auditUnavailable');
    expect(existsSync(ran)).toBe(false);

    asked = decided();
    const starting = manager.start(requestFor(program));
    await asked;
    expect(manager.list()).toEqual([]);
    settle.written();
    const run = await starting;

    asked = decided();
    const kept = codeOf(run.stop('pipe:1'));
    await asked;
    settle.failed(new Error('disk full'));
    await expect(kept).resolves.toBe('auditUnavailable');
    expect(run.state.kind).toBe('running');

    asked = decided();
    const stopping = run.stop('pipe:1');
    await asked;
    expect(run.state.kind).toBe('running');
    settle.written();
    await expect(stopping).resolves.toMatchObject({ reason: 'stopped' });
  });

  it('finds the newest run by name and any run by id, until it was given back', async () => {
    const program = harness.program('tool', 'exit 0');
    const manager = harness.manager(['tool']);
    const [first, second] = [
      await manager.start(requestFor(program)).then(async (run) => (await run.ended, run)),
      await manager.start(requestFor(program)).then(async (run) => (await run.ended, run)),
    ];
    const value = 'rancher-wins-tool';
    expect(manager.find({ value })).toBe(second);
    expect(manager.find({ value, runId: first.runId })).toBe(first);
    expect(manager.list()).toEqual([first, second]);
    await expect(codeOf(() => manager.find({ value: 'x', runId: first.runId }))).resolves.toBe(
      'notFound',
    );
    await first.holdLease('pipe:1').release();
    expect(manager.list()).toEqual([second]);
    expect(manager.find({ value })).toBe(second);
    await second.holdLease('pipe:1').release();
    await expect(codeOf(() => manager.find({ value }))).resolves.toBe('notFound');
  });

  it('remembers no more ended runs than it may run, and none for longer than asked', async () => {
    const program = harness.program('tool', 'exit 0');
    const manager = harness.manager(['tool'], { limits: { maxProcesses: 2 } });
    const runs = [];
    for (let i = 0; i < 4; i += 1) {
      const run = await manager.start(requestFor(program));
      await run.ended;
      runs.push(run);
    }
    expect(manager.list()).toEqual(runs.slice(2));
    const forgetful = harness.manager(['tool'], { limits: { lingerMs: 0 } });
    await (
      await forgetful.start(requestFor(program))
    ).ended;
    while (forgetful.list().length > 0) await new Promise(setImmediate);
  });

  it('lets one connection own many runs, which all end when it breaks', async () => {
    // More than ten, because Node warns of a leak at the eleventh listener.
    const names = Array.from({ length: 12 }, (_, index) => `tool${index}`);
    const programs = names.map((name) => harness.program(name, FOREVER));
    const manager = harness.manager(names);
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => warnings.push(warning);
    observedProcess.on('warning', onWarning);
    const owner = new TestOwner();
    const runs = await Promise.all(programs.map((p) => manager.start(requestFor(p, { owner }))));
    owner.disconnect();
    const exits = await Promise.all(runs.map((run) => run.ended));
    observedProcess.off('warning', onWarning);
    expect(exits.map(({ reason }) => reason)).toEqual(names.map(() => 'ownerDisconnected'));
    expect(warnings.map(String)).toEqual([]);
  });

  it('limits how many run at once', async () => {
    const [one, two] = [harness.program('one', FOREVER), harness.program('two', FOREVER)];
    const manager = harness.manager(['one', 'two'], { limits: { maxProcesses: 1 } });
    const run = await manager.start(requestFor(one));
    await expect(codeOf(manager.start(requestFor(two)))).resolves.toBe('tooManyProcesses');
    await run.stop('pipe:1');
    await expect(codeOf(manager.start(requestFor(two)))).resolves.toBe('no error');
  });

  it('keeps the record of a process that does not end when its client leaves during the start', async () => {
    const node = realHost();
    const owner = new TestOwner();
    let started: HostProcess | undefined;
    const host: ProcessHost = {
      ...node,
      start: async (command) => {
        started = await node.start(command);
        owner.disconnect();
        const { pid, startToken, stdout, stderr, exited } = started;
        return {
          pid,
          startToken,
          stdout,
          stderr,
          exited,
          isGone: () => Promise.resolve(false),
          usage: () => Promise.resolve(undefined),
          terminate: () => Promise.resolve(),
          close: () => undefined,
          [Symbol.dispose]: () => undefined,
        };
      },
    };
    const manager = harness.manager(['tool'], { host, graceMs: 1 });
    const program = harness.program('tool', FOREVER);
    const code = await codeOf(manager.start(requestFor(program, { owner })));
    await started?.terminate('force');
    await started?.exited;
    started?.close();
    expect(code).toBe('aborted');
    const [mark = ''] = readdirSync(harness.runs);
    const record = JSON.parse(
      readFileSync(path.join(harness.runs, mark, 'run.json'), 'utf8'),
    ) as unknown;
    expect(record).toMatchObject({ pid: started?.pid });
  });

  it('gives a start up when the client cancels or disconnects while the copy is made', async () => {
    const program = harness.program('tool', 'touch ran');
    writeFileSync(program.path, Buffer.alloc(8_000_000), { flag: 'a' });
    const big = harness.program('big', `touch ran; exit 0\n${'#'.repeat(8_000_000)}`);
    const manager = harness.manager(['big']);
    const cancelled = new AbortController();
    const first = codeOf(manager.start(requestFor(big), { signal: cancelled.signal }));
    cancelled.abort();
    await expect(first).resolves.toBe('aborted');
    const owner = new TestOwner();
    const second = codeOf(manager.start(requestFor(big, { owner })));
    owner.disconnect();
    await expect(second).resolves.toBe('aborted');
    expect(manager.list()).toEqual([]);
    expect(readdirSync(harness.programs).sort()).toEqual(['big', 'tool']);
  });

  it('reports a program that the kernel cannot run, frees its name and leaves no record', async () => {
    const program = harness.program('tool', 'exit 0', '/no/such/interpreter');
    const manager = harness.manager(['tool']);
    await expect(manager.start(requestFor(program))).rejects.toMatchObject({
      code: 'notExecutable',
      message: expect.stringContaining(
        'its interpreter "/no/such/interpreter" does not exist',
      ) as string,
    });
    const huge = { args: Array<string>(60).fill('x'.repeat(60_000)) };
    const good = harness.program('tool', 'exit 0');
    await expect(codeOf(manager.start(requestFor(good, huge)))).resolves.toBe('invalidArgument');
    await expect(codeOf(manager.start(requestFor(good)))).resolves.toBe('no error');
    expect(harness.events.map(({ type }) => type).slice(0, 1)).toEqual(['startFailed']);
  });

  it('begins no run that it cannot record, since nobody could find it again (F14)', async () => {
    const program = harness.program('tool', FOREVER);
    const manager = harness.manager(['tool']);
    // With a file in place of the directory, creating a record fails as on a full disk.
    rmdirSync(harness.runs);
    writeFileSync(harness.runs, '');
    await expect(codeOf(manager.start(requestFor(program)))).resolves.toBe('stateUnavailable');
    expect(harness.events.filter(({ type }) => type === 'started')).toEqual([]);
    expect(manager.list()).toEqual([]);
  });

  it('keeps a record of each living run, and none afterwards', async () => {
    const program = harness.program('tool', FOREVER);
    const run = await harness.manager(['tool']).start(requestFor(program));
    const file = path.join(harness.runs, run.mark, 'run.json');
    const { pid, name } = run;
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid, run: { name } });
    await run.stop('pipe:1');
    expect(readdirSync(harness.runs)).toEqual([]);
  });

  it('closes: refuses new starts, gives up those under way, stops all, and is done', async () => {
    const names = ['one', 'two', 'three'];
    const programs = names.map((name) => harness.program(name, FOREVER));
    const late = harness.program('late', `${FOREVER}\n${'#'.repeat(8_000_000)}`);
    const manager = harness.manager([...names, 'late']);
    const runs = await Promise.all(programs.map((program) => manager.start(requestFor(program))));
    await Promise.all(runs.map((run) => untilOutput(run.read('pipe:1'), 'ready')));
    const under = codeOf(manager.start(requestFor(late)));
    const closed = manager.close();
    expect(manager.close()).toBe(closed);
    await expect(codeOf(manager.start(requestFor(late)))).resolves.toBe('shuttingDown');
    await closed;
    await expect(under).resolves.toBe('shuttingDown');
    for (const run of runs) {
      await expect(run.ended).resolves.toMatchObject({
        signal: 'SIGTERM',
        reason: 'daemonStopping',
      });
      expect(isRunning(run.pid)).toBe(false);
    }
    expect(manager.list()).toEqual([]);
  });

  it('refuses to be without a host, as a caller in JavaScript may leave it', async () => {
    const options = { allowed: [], stateDirectory: harness.stateDirectory };
    const hostless = options as unknown as ProcessManagerOptions;
    await expect(codeOf(() => createProcessManager(hostless))).resolves.toBe('hostUnsupported');
  });

  it('refuses a state directory that others can use, and options that make no sense', async () => {
    mkdirSync(harness.stateDirectory, { mode: 0o755 });
    await expect(codeOf(() => harness.manager([]))).resolves.toBe('stateUnavailable');
    const stateDirectory = 'relative';
    await expect(codeOf(() => harness.manager([], { stateDirectory }))).resolves.toBe(
      'invalidArgument',
    );
    await expect(codeOf(() => harness.manager([], { graceMs: -1 }))).resolves.toBe(
      'invalidArgument',
    );
  });
});
