import { buildSync } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLoggerTo } from './logger.js';

const onPosix = process.platform === 'win32' ? it.skip : it;

/** Logs in many turns of the event loop, and ends while lines wait. */
const BUSY_PROGRAM = `
  import { stat } from 'node:fs/promises';
  import { createLogger } from './logger.ts';
  const work = async () => {
    const logger = await createLogger({ debug: false, quiet: false });
    for (let turn = 0; turn < 100; turn += 1) {
      logger.info({ turn }, 'line');
      await stat('.');
    }
    console.log('goes on');
    process.exit(7);
  };
  void work();
`;

onPosix(
  'neither ends the process nor keeps it from its end when the disk of the log is full',
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'logger-'));
    const full = openSync('/dev/full', 'w');
    try {
      const program = path.join(folder, 'program.cjs');
      const stdin = { contents: BUSY_PROGRAM, resolveDir: __dirname };
      const conditions = ['@wins/source'];
      buildSync({ stdin, bundle: true, platform: 'node', conditions, outfile: program });
      const { status, stdout } = spawnSync(process.execPath, [program], {
        stdio: ['ignore', 'pipe', full],
        encoding: 'utf8',
        timeout: 20_000,
        killSignal: 'SIGKILL',
      });
      expect([status, stdout]).toEqual([7, 'goes on\n']);
    } finally {
      closeSync(full);
      rmSync(folder, { recursive: true });
    }
  },
);

it('escapes characters that control a terminal, and writes each record otherwise unchanged', () => {
  const lines: string[] = [];
  const log = createLoggerTo({ debug: false, quiet: false }, { write: (line) => lines.push(line) });
  const text = 'é \u001b[2J\u007f\u009b31m\u202e\u2028\n{"msg":"forged"}\u{e0001}';
  log.info({ text }, 'said');
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ text, msg: 'said', level: 'info' });
});
