import type { CommandRunner } from '@wins/process-manager';
import { posixFileTrust } from '@wins/trusted-files';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startAgent, type RunningAgent } from './running-agent.js';

describe('a dry run of a plan', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dry-run-'));
  const at = (name: string): string => path.join(folder, name);
  let agent: RunningAgent;

  beforeAll(() => {
    const settings = {
      workDirectory: at('work'),
      preserveWorkDirectory: false,
      appliedPlanDirectory: at('applied'),
      imagesDirectory: at('images'),
      isStrict: true,
    };
    agent = startAgent({
      settings,
      commands: {} as CommandRunner,
      trust: posixFileTrust(),
      onAction: () => Promise.reject(new Error('a dry run does nothing')),
      onProvider: () => Promise.reject(new Error('a dry run asks nobody')),
      onEvent: () => undefined,
    });
  });
  afterAll(async () => {
    await agent.close();
    rmSync(folder, { recursive: true });
  });
  const dryRun = (files: readonly object[], signal = new AbortController().signal) =>
    agent.apply(Buffer.from(JSON.stringify({ files })), true, signal);

  it('says what each file would become', async () => {
    writeFileSync(at('kept'), 'x');
    writeFileSync(at('other'), 'y');
    const content = Buffer.from('x').toString('base64');
    const files = [
      { path: at('kept'), content },
      { path: at('other'), content },
      { path: at('new'), content },
      { path: at('other'), action: 'delete' },
      { path: at('new'), action: 'delete' },
    ];
    const { effects } = await dryRun(files);
    expect(effects).toEqual(['keep', 'replace', 'create', 'delete', 'none']);
  });

  it('leaves time to other work, and ends when its client is gone', async () => {
    const files = Array.from({ length: 10_000 }, (_, index) => ({ path: at(String(index)) }));
    const gone = new AbortController();
    setImmediate(() => gone.abort(new Error('the client is gone')));
    await expect(dryRun(files, gone.signal)).rejects.toThrow('the client is gone');
  });
});
