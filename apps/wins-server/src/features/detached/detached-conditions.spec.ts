import { ProcessError, type DetachedRun } from '@wins/process-manager';
import { detachedConditions } from './detached-conditions.js';

interface Kept {
  readonly label?: string;
  readonly owner?: string;
  readonly next?: object;
  readonly refused?: ProcessError;
}

function run({ label = 'web', owner = 'uid-7', next = { kind: 'none' }, refused }: Kept) {
  const end = { code: 1, outputBytes: 0, endedAtMs: 0 };
  const more = { end, refused, plan: { next }, process: undefined, isStarting: false };
  return { label, ...more, facts: { owner: { key: owner } } } as unknown as DetachedRun;
}

function look(...kept: readonly Kept[]) {
  const runs = kept.map(run);
  const nameFor = ({ label, facts }: DetachedRun) => `${facts.owner.key}/${label}`;
  return detachedConditions({ list: () => runs, nameFor }).map(({ level, found, advice }) => [
    `${level}: ${found}`,
    advice,
  ]);
}

describe('of detached runs the daemon reports', () => {
  it('nothing where there are none, and that all is well of runs that ended as they should', () => {
    expect(look()).toEqual([]);
    const stopped = { next: { kind: 'stopped' } };
    expect(look({}, stopped)).toEqual([['ok: 2 kept, all as they should be', undefined]]);
  });

  it.each<[string, Kept, string, string]>([
    [
      'of "keep" is not started again',
      { label: 'keep:one', next: { kind: 'gaveUp', reason: 'it failed' } },
      'problem: keep:one will not be started again: it failed',
      'see wins cli prc logs keep:one; "wins cli prc start keep:one" starts it',
    ],
    [
      'of a client is not started again',
      { next: { kind: 'gaveUp', reason: 'it failed' } },
      'warning: web will not be started again: it failed',
      'see wins cli prc logs web; "wins cli prc start web" starts it',
    ],
    [
      'of "keep" was stopped',
      { label: 'keep:one', next: { kind: 'stopped' } },
      'warning: keep:one was stopped, and stays so',
      '"wins cli prc start keep:one" starts it',
    ],
    [
      'cannot start yet',
      {
        label: 'keep:one',
        next: { kind: 'again', atMs: 0 },
        refused: new ProcessError('notFound', 'it has no file'),
      },
      'problem: keep:one cannot be started: it has no file',
      'mend the cause: the daemon tries again, or now by "wins cli prc start keep:one"',
    ],
  ])('which run %s', (_what, kept, found, advice) => {
    expect(look(kept)).toEqual([[found, advice]]);
  });

  it('the owners of runs that have one label', () => {
    const next = { kind: 'gaveUp', reason: 'it failed' };
    expect(look({ next }, { next, owner: 'uid-8' }).map(([found]) => found)).toEqual([
      'warning: uid-7/web will not be started again: it failed',
      'warning: uid-8/web will not be started again: it failed',
    ]);
  });
});
