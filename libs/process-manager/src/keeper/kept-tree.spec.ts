import type { ProcessHost } from '@wins/base';
import { ProcessOutput } from '../output/process-output.js';
import type { RunFigures } from '../supervision/managed-process.js';
import { KeptTree } from './kept-tree.js';

const MARK = 'ab'.repeat(16);
const figuresOf = (stdoutBytes: number): RunFigures => ({
  output: { stdoutBytes, stderrBytes: 0, pauses: 0 },
});

function treeOf(measure: () => Promise<RunFigures | undefined>): KeptTree {
  const source = { pause: () => undefined, resume: () => undefined };
  return new KeptTree(
    { mark: MARK, pid: 7, startToken: '1', startedAtMs: 0, supervisor: 's' },
    {
      keeper: { end: () => undefined, measure },
      host: {} as ProcessHost,
      graceMs: 0,
      output: {
        read: () => new ProcessOutput(0, source).read(),
        written: () => undefined,
      },
    },
  );
}

it('a kept tree has the figures of its end, whatever measurement the keeper answered just before', async () => {
  let answer: (figures: RunFigures) => void = () => undefined;
  const answered = new Promise<RunFigures>((resolve) => (answer = resolve));
  const tree = treeOf(() => answered);
  const measured = tree.measure();
  // Both messages arrive in one piece.
  answer(figuresOf(1));
  tree.finish({
    kind: 'ended',
    mark: MARK,
    end: {
      version: 1,
      mark: MARK,
      code: 0,
      reason: 'exited',
      endedAtMs: 0,
      outputBytes: 2,
      figures: figuresOf(2),
    },
    isGone: true,
    isCutOff: false,
  });
  await measured;
  expect(await tree.measure()).toEqual(figuresOf(2));
});

it('a kept tree has its last figures when its keeper hangs', async () => {
  jest.useFakeTimers();
  try {
    const answers = [Promise.resolve(figuresOf(1)), new Promise<undefined>(() => undefined)];
    const tree = treeOf(() => answers.shift() ?? Promise.resolve(undefined));
    await tree.measure();
    const measured = tree.measure();
    await jest.advanceTimersByTimeAsync(1000);
    expect(await measured).toEqual(figuresOf(1));
  } finally {
    jest.useRealTimers();
  }
});
