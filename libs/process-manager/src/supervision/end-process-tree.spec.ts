import type { HostProcess, ProcessTree } from '@wins/base';
import { PassThrough } from 'node:stream';

import type { EntryName } from '../policy/executable-policy.js';
import { endProcessTree } from './end-process-tree.js';
import { ProcessOutput } from '../output/process-output.js';
import { SupervisedRun } from './supervised-run.js';
import { LocalTree } from './supervised-tree.js';
import { TestOwner } from '../testing/manager-harness.js';

/** Stands in for a process that the kernel cannot end, because no real process survives SIGKILL on demand. */
class StuckTree implements ProcessTree {
  readonly asked: string[] = [];
  /** Number of `terminate('force')` calls after which the tree is gone. */
  patience = Infinity;

  isGone(): Promise<boolean> {
    return Promise.resolve(this.asked.filter((mode) => mode === 'force').length >= this.patience);
  }

  terminate(mode: 'graceful' | 'force'): Promise<void> {
    this.asked.push(mode);
    return Promise.resolve();
  }
}

describe('endProcessTree', () => {
  it('asks once, then makes it end again and again, because it may start more meanwhile', async () => {
    const tree = new StuckTree();
    tree.patience = 3;
    let forced = 0;
    await expect(endProcessTree(tree, 1_000, () => (forced += 1))).resolves.toBe(true);
    expect(tree.asked).toEqual(['graceful', 'force', 'force', 'force']);
    expect(forced).toBe(1);
  });

  it('looks once more at the end of its time, however long a look takes', async () => {
    const tree = new StuckTree();
    tree.patience = 2;
    const isGone = tree.isGone.bind(tree);
    tree.isGone = () => {
      for (const end = performance.now() + 5; performance.now() < end;);
      return isGone();
    };
    await expect(endProcessTree(tree, 1)).resolves.toBe(true);
  });

  it('waits no longer once it shall force, and does not even ask when it shall from the start', async () => {
    const force = new AbortController();
    const asked = new StuckTree();
    asked.patience = 1;
    const ended = endProcessTree(asked, 1e6, () => undefined, force.signal);
    force.abort();
    await expect(ended).resolves.toBe(true);
    expect(asked.asked).toEqual(['graceful', 'force']);
    const other = new StuckTree();
    other.patience = 1;
    await expect(endProcessTree(other, 1e6, () => undefined, force.signal)).resolves.toBe(true);
    expect(other.asked).toEqual(['force']);
  });

  it('does not force what ends when asked', async () => {
    const tree = new StuckTree();
    tree.patience = 0;
    await expect(endProcessTree(tree, 0)).resolves.toBe(true);
    expect(tree.asked).toEqual(['graceful']);
  });

  it('gives up what cannot be ended', async () => {
    await expect(endProcessTree(new StuckTree(), 5)).resolves.toBe(false);
  });
});

describe('a run whose tree cannot be ended', () => {
  it('ends nevertheless, says so, and does not count as gone', async () => {
    const told: unknown[] = [];
    const hostProcess: HostProcess = Object.assign(new StuckTree(), {
      pid: 7,
      startToken: 'x',
      stdout: new PassThrough(),
      stderr: new PassThrough(),
      exited: new Promise<never>(() => undefined),
      usage: () => Promise.resolve(undefined),
      close: () => told.push('closed'),
      [Symbol.dispose]: () => undefined,
    });
    const owner = new TestOwner();
    const facts = {
      name: 'n',
      runId: 'r',
      mark: 'm',
      path: '/p',
      entry: 'p' as EntryName,
      stagedPath: '/s',
      sha256: 'd',
    };
    const lifetime = 'connection';
    const tree = new LocalTree(hostProcess, {
      supervisor: 's',
      graceMs: 5,
      log: (source) => new ProcessOutput(1000, source),
    });
    const run = new SupervisedRun({
      run: { ...facts, owner, exposes: [], ports: undefined, limits: undefined, lifetime },
      tree,
      leaseTimeoutMs: 1000,
      onDecision: () => undefined,
      onEvent: ({ type }) => told.push(type),
      onEnded: () => told.push(tree.isGone),
      onReleased: () => undefined,
    });
    owner.disconnect();
    await expect(run.ended).resolves.toMatchObject({ code: 137, reason: 'ownerDisconnected' });
    expect(told).toEqual(['closed', 'treeNotGone', 'outputCutOff', false]);
  });
});
