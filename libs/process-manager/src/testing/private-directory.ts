import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A directory that only the current user can enter, for programs and state of one test. */
export interface PrivateDirectory {
  readonly path: string;
  /** Removes the directory with its content. Idempotent. */
  close(): void;
}

/** Mode 0700, below the system's temporary directory. */
export function createPrivateDirectory(): PrivateDirectory {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'process-manager-'));
  return { path: directory, close: () => rmSync(directory, { recursive: true, force: true }) };
}
