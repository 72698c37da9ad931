import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processesWith } from './process-table.js';

/** Root of the checkout. The Windows suite sets it, because its specs run from a bundle. */
export const ROOT = process.env['WINS_ROOT'] ?? path.resolve(__dirname, '../../../..');
/** Whether this is the long tier, in which a `*.long-spec.ts` may repeat a spec of tier one with more cases. */
export const IS_LONG = process.env['WINS_TEST_TIER'] === 'long';
export const WINS = path.join(ROOT, 'dist', 'wins.cjs');

/** A private temporary folder for one test: programs, config and the runtime folder of a daemon. */
export class Workspace implements Disposable {
  readonly folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-e2e-')));
  readonly runtimeDirectory = path.join(this.folder, 'run');
  /** More variables for programs. */
  readonly variables: NodeJS.ProcessEnv = {};

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  /** Environment in which only daemons and clients of this workspace find each other. */
  get environment(): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: _options, ...environment } = process.env;
    return { ...environment, WINS_RUNTIME_DIR: this.runtimeDirectory, ...this.variables };
  }

  write(name: string, content: string | Buffer, mode = 0o600): string {
    const file = this.path(name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, mode);
    return file;
  }

  /** Writes an executable host program in JavaScript. */
  program(name: string, source: string): string {
    return this.write(name, `#!${process.execPath}\n${source}\n`, 0o755);
  }

  /** Writes an executable host program for the shell, which starts much sooner than Node. */
  script(name: string, source: string): string {
    return this.write(name, `#!/bin/sh\n${source}\n`, 0o755);
  }

  /** Writes a config file that allows these programs. */
  config(allowed: readonly (string | Record<string, unknown>)[], more: object = {}): string {
    const config = { white_list: { processPaths: allowed }, ...more };
    return this.write('config', JSON.stringify(config, null, 2));
  }

  /** Kills remaining programs of a failed test, and removes the folder. */
  [Symbol.dispose](): void {
    for (const pid of processesWith(this.folder))
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has ended since the listing.
      }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
