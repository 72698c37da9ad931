import type { ProcessHost } from '@wins/base';
import { ProcessOutput } from '../output/process-output.js';
import type { RunFigures } from '../supervision/managed-process.js';
import { KeptTree } from './kept-tree.js';

const MARK = 'ab'.repeat(16);
const figuresOf = (stdoutBytes: number): RunFigures => ({
  output: { stdoutBytes, stderrBytes: 0, pauses: 0 },
});

it('a kept tree has the figures of its end, whatever measurement the keeper answered just before', async () => {
  let answer: (figures: RunFigures) => void = () => undefined;
  const answered = new Promise<RunFigures>((resolve) => (answer = resolve));
  const source = { pause: () => undefined, resume: () => undefined };
  const tree = new KeptTree(
    { mark: MARK, pid: 7, startToken: '1', startedAtMs: 0, supervisor: 's' },
    {
      keeper: { end: () => undefined, measure: () => answered },
      host: {} as ProcessHost,
      graceMs: 0,
      output: {
        read: () => new ProcessOutput(0, source).read(),
        written: () => undefined,
      },
    },
  );
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
