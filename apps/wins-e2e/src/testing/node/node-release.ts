import { singleFile } from '../upgrade/single-file.js';
import type { Workspace } from '../workspace.js';

/** Writes `singleFile(version, more)` below the workspace, and returns its path. */
export function nodeRelease(workspace: Workspace, version?: string, more = ''): string {
  const name = `releases/${version ?? 'this'}-${more.length}`;
  return workspace.write(name, singleFile(version, more), 0o755);
}
