// node make-releases.mjs FOLDER NAME:VERSION[:FLAW] …: packs the built programs into FOLDER/NAME.exe for Windows, as release VERSION, optionally with
// a flaw. One process makes all, because the runtime is checked once for each process.
import { build } from 'esbuild';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { koffiBesideBundle } from '../../windows/koffi-plugin.mjs';
import { programs, root } from '../programs.mjs';
import { makeWindowsExecutable } from '../windows-executable.mjs';

const [folder, ...releases] = process.argv.slice(2);
const asDaemon = (code) => (text) =>
  `if (process.argv.includes('run') && !process.argv.includes('--register')) { ${code} }\n${text}`;
const beside = (name) => `require('node:path').join(process.execPath, '..', '${name}')`;
const inPrograms = (name) => path.join(root, 'apps/wins-e2e/src/fixtures/programs', name);
const DEADLY = path.join(import.meta.dirname, 'die-at-change.cjs');
const replace = (from, to) => (text) => {
  if (!text.includes(from)) throw new Error(`the program does not contain ${from}`);
  return text.replaceAll(from, to);
};

async function goService(version) {
  const { outputFiles } = await build({
    entryPoints: [inPrograms('go-service.cjs')],
    bundle: true,
    platform: 'node',
    target: 'node26',
    conditions: ['@wins/source'],
    define: { RELEASE: JSON.stringify(version) },
    plugins: [koffiBesideBundle],
    write: false,
  });
  return outputFiles[0].text;
}

/** The program that each flaw changes, and the change. */
const FLAWS = {
  /** The daemon exits at its start. */
  crashes: ['wins.cjs', asDaemon('process.exit(7);')],
  /** The daemon reports another release. */
  lies: ['wins-server.cjs', (text, version) => replace(`"${version}"`, '"v9.9.9"')(text)],
  /** The daemon blocks while a file `deaf` is beside it. */
  'turns deaf': [
    'wins.cjs',
    asDaemon(`setInterval(() => {
      while (require('node:fs').existsSync(${beside('deaf')}))
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }, 50).unref();`),
  ],
  /** The daemon behaves like the Go release. */
  'is original': ['wins-server.cjs', (text, version) => goService(version)],
  /** A command dies before or during the DIE_AT-th change that it makes to the node. */
  dies: ['wins.cjs', (text) => `${readFileSync(DEADLY, 'utf8')}\n${text}`],
  /** The serving daemon reports itself as paused. */
  pauses: [
    'wins-server.cjs',
    replace('stateNumber(phase.kind)', '(phase.kind === "running" ? 7 : stateNumber(phase.kind))'),
  ],
};

const work = mkdtempSync(path.join(tmpdir(), 'wins-release-'));
try {
  for (const release of releases) {
    const [name, version, flaw] = release.split(':');
    const files = await writePrograms(version, flaw);
    await makeWindowsExecutable(files, path.resolve(folder, `${name}.exe`), version.slice(1));
  }
} finally {
  rmSync(work, { recursive: true });
}

async function writePrograms(version, flaw) {
  const files = [];
  for (const program of programs) {
    const name = path.basename(program);
    let text = readFileSync(program, 'utf8').replaceAll('"v1.0.0"', `"${version}"`);
    if (flaw !== undefined) {
      const [flawed, change] = FLAWS[flaw];
      if (flawed === name) text = await change(text, version);
    }
    const file = path.join(work, name);
    files.push(file);
    writeFileSync(file, text);
  }
  return files;
}
