import { chmodSync } from 'node:fs';
import path from 'node:path';

import {
  judgeStart,
  type AllowedExecutable,
  type StartQuestion,
  type StartVerdict,
} from './index.js';
import {
  codeOf,
  ManagerHarness,
  realHost,
  requestFor,
  TestOwner,
} from './testing/manager-harness.js';
import type { TestProgram } from './testing/test-program.js';

const OTHER = 'ab'.repeat(32);

describe('whether a program would start', () => {
  let harness: ManagerHarness;
  let tool: TestProgram;
  beforeEach(() => {
    harness = new ManagerHarness();
    tool = harness.program('tool', 'exit 0');
  });
  afterEach(() => harness.close());

  const ask = (question: Partial<StartQuestion>, allowed: readonly AllowedExecutable[]) =>
    judgeStart({ path: tool.path, ...question }, { allowed, host: realHost() });
  const told = ({ refusal, entryIndex }: StartVerdict) => [refusal?.code, entryIndex];

  it('is told with the entry that allows it, and whether that pins digests', async () => {
    const list = [{ path: '/bin/other' }, { path: tool.path }];
    expect(await ask({}, list)).toEqual({ entryIndex: 1, isPinned: false });
    const pinned = [...list, { path: tool.path, sha256: [tool.sha256] }];
    expect(await ask({ sha256: tool.sha256 }, pinned)).toEqual({ entryIndex: 2, isPinned: true });
  });

  it('is refused with the reason of the start, and with the entry that refuses', async () => {
    const listed = [{ path: tool.path, for: ['user:4711'] }];
    expect(told(await ask({}, []))).toEqual(['pathNotAllowed', undefined]);
    expect(told(await ask({ path: 'tool' }, listed))).toEqual(['invalidPath', undefined]);
    expect(told(await ask({ callerNames: ['user:1'] }, listed))).toEqual(['callerNotAllowed', 0]);
    expect(told(await ask({ callerNames: ['user:4711'] }, listed))).toEqual([undefined, 0]);
    const missing = `${tool.path}-missing`;
    expect(told(await ask({ path: missing }, [{ path: missing }]))).toEqual(['notFound', 0]);
    chmodSync(tool.path, 0o777);
    expect(told(await ask({}, [{ path: tool.path }]))).toEqual(['pathNotTrusted', 0]);
  });

  it('does not reveal pinned digests to a caller that has other bytes', async () => {
    const pinned = [{ path: tool.path, sha256: [OTHER] }];
    expect(told(await ask({ sha256: OTHER }, pinned))).toEqual(['checksumMismatch', 0]);
    expect(told(await ask({ sha256: tool.sha256 }, pinned))).toEqual(['digestNotPinned', 0]);
  });

  it('is what the manager does then, and no decision is recorded for the question', async () => {
    const allowed = [{ path: tool.path, sha256: [OTHER] }];
    const manager = harness.manager([], { allowed });
    const { sha256, path: program } = tool;
    const { refusal } = await manager.judge({ path: program, sha256 }, new TestOwner());
    expect(harness.decisions).toEqual([]);
    expect(await codeOf(manager.start(requestFor(tool)))).toBe(refusal?.code);
    const gone = new TestOwner();
    gone.disconnect();
    const { refusal: aborted } = await manager.judge({ path: program, sha256 }, gone);
    expect(aborted?.code).toBe('aborted');
  });

  it('never for an entry with a wildcard, which names no program', async () => {
    const wild = path.join(harness.programs, '*');
    harness.program('*', 'exit 0');
    expect(told(await ask({ path: wild }, [{ path: wild }]))).toEqual([
      'pathNotAllowed',
      undefined,
    ]);
  });
});
