import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { processesWith } from './process-table.js';

/** The root of the checkout; the Windows suite, whose specs run from a bundle, says where it is. */
export const ROOT = process.env['WINS_ROOT'] ?? path.resolve(__dirname, '../../../..');
/** Whether this is the long tier, in which a `*.long-spec.ts` may run the spec of tier one again, with more. */
export const IS_LONG = process.env['WINS_TEST_TIER'] === 'long';
/** The built program. */
export const WINS = path.join(ROOT, 'dist', 'wins.cjs');

/** A private temporary folder for one test: programs, config and the run directory of a daemon. */
export class Workspace implements Disposable {
  readonly folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'wins-e2e-')));
  readonly runtimeDirectory = path.join(this.folder, 'run');
  /** Variables of programs in addition to those of this process. */
  readonly variables: NodeJS.ProcessEnv = {};

  path(...names: string[]): string {
    return path.join(this.folder, ...names);
  }

  /** Environment in which daemon and client find each other and no one else. */
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

  /** An executable program of the host, written in JavaScript. */
  program(name: string, source: string): string {
    return this.write(name, `#!${process.execPath}\n${source}\n`, 0o755);
  }

  /** An executable program of the host, written for the shell: it starts much sooner than Node. */
  script(name: string, source: string): string {
    return this.write(name, `#!/bin/sh\n${source}\n`, 0o755);
  }

  /** A config file that allows these programs. */
  config(allowed: readonly (string | Record<string, unknown>)[], more: object = {}): string {
    const config = { white_list: { processPaths: allowed }, ...more };
    return this.write('config', JSON.stringify(config, null, 2));
  }

  /** Kills what a failed test has left of its programs, and removes the folder. */
  [Symbol.dispose](): void {
    for (const pid of processesWith(this.folder))
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
