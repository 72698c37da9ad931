import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processesWith } from './process-table.js';

/** Root of the checkout. The Windows suite sets WINS_ROOT because its specs run from a bundle. */
export const ROOT = process.env['WINS_ROOT'] ?? path.resolve(__dirname, '../../../..');
export const WINS = path.join(ROOT, 'dist', 'wins.cjs');

/** A private temporary folder for one test. */
export class Workspace implements Disposable {
  readonly folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-e2e-')));
  readonly runtimeDirectory = path.join(this.folder, 'run');
  /** More environment variables for programs. */
  readonly variables: NodeJS.ProcessEnv = {};

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  /** Variables for programs. The runtime folder keeps this workspace apart from other workspaces. */
  get environment(): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _options, ...environment } = process.env;
    return {
      ...environment,
      WINS_RUNTIME_DIR: this.runtimeDirectory,
      XDG_CACHE_HOME: this.path('cache'),
      ...this.variables,
    };
  }

  write(name: string, content: string | Buffer, mode = 0o600): string {
    const file = this.path(name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode);
    return file;
  }

  program(name: string, source: string): string {
    return this.write(name, `#!${process.execPath}\n${source}\n`, 0o755);
  }

  /** Writes a shell script, which starts much faster than Node. */
  script(name: string, source: string): string {
    return this.write(name, `#!/bin/sh\n${source}\n`, 0o755);
  }

  config(allowed: readonly (string | Record<string, unknown>)[], more: object = {}): string {
    const config = { white_list: { processPaths: allowed }, ...more };
    return this.write('config', JSON.stringify(config, null, 2));
  }

  [Symbol.dispose](): void {
    for (const pid of processesWith(this.folder))
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Already ended.
      }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
