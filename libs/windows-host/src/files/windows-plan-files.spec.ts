import { lstatSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { windowsPlanFiles } from './windows-plan-files.js';

it('a link of a plan is removed although its target is gone', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-plan-files-'));
  try {
    const link = path.join(folder, 'link');
    symlinkSync(path.join(folder, 'gone'), link);
    await windowsPlanFiles().remove(link, false);
    expect(lstatSync(link, { throwIfNoEntry: false })).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
