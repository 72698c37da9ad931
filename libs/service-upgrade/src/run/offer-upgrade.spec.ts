import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { UpgradeResult } from '../journal/upgrade-result.js';
import { ModelNode, release } from '../testing/model-node.js';

describe('a program that a daemon finds in the file that it watches', () => {
  let node: ModelNode;
  let program: string;

  beforeEach(() => {
    node = new ModelNode();
    node.install(release('v1.0.0'), true);
    program = node.offer(release('v1.1.0'));
    mkdirSync(node.paths.folder, { mode: 0o700 });
  });
  afterEach(() => node[Symbol.dispose]());

  const sha256 = (file: string): string =>
    createHash('sha256').update(readFileSync(file)).digest('hex');
  const cameTo = (result: Partial<UpgradeResult>, file = program): void => {
    const to = { sha256: sha256(file) };
    writeFileSync(node.paths.result, JSON.stringify({ id: 'x', reason: 'why', to, ...result }));
  };

  it('is tried when it was not before', async () => {
    expect(await node.find(program)).toBe(1);
    cameTo({ outcome: 'failed' }, node.target);
    expect(await node.find(program)).toBe(1);
  });

  it.each(['upgraded', 'nothing'] as const)(
    'is tried again when another took its place since it was in place (%s)',
    async (outcome) => {
      cameTo({ outcome, attempt: 3 });
      expect(await node.find(program)).toBe(1);
    },
  );

  it('is not handed over after an abort', async () => {
    const reason = new Error('the daemon ends');
    const found = await node.find(program, AbortSignal.abort(reason));
    expect(found).toMatchObject({ name: 'UpgradeError', code: 'aborted', cause: reason });
  });

  it('is tried three times when that is interrupted, and not a fourth time', async () => {
    for (const attempt of [1, 2]) {
      cameTo({ outcome: 'rolledBack', interrupted: true, attempt });
      expect(await node.find(program)).toBe(attempt + 1);
    }
    cameTo({ outcome: 'rolledBack', interrupted: true, attempt: 3 });
    expect(await node.find(program)).toBe('tried');
  });

  it.each(['refused', 'rolledBack', 'failed'] as const)(
    'is not tried again when it was %s for what it is',
    async (outcome) => {
      cameTo({ outcome, attempt: 1 });
      expect(await node.find(program)).toBe('tried');
    },
  );
});
