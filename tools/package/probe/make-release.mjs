// node make-release.mjs OUT VERSION [crashes|lies]: an executable for Windows of the built programs, as another release; one that
// ends when it is to be the daemon, or one whose daemon says that it is yet another release.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programs } from '../programs.mjs';
import { makeWindowsExecutable } from '../windows-executable.mjs';

const [out, version, flaw] = process.argv.slice(2);
const CRASH = "if (process.argv.includes('run')) process.exit(7);\n";
const work = mkdtempSync(path.join(tmpdir(), 'wins-release-'));
try {
  const files = programs.map((program) => {
    const name = path.basename(program);
    let text = readFileSync(program, 'utf8').replaceAll('"v1.0.0"', `"${version}"`);
    if (flaw === 'crashes' && name === 'wins.cjs') text = CRASH + text;
    if (flaw === 'lies' && name === 'wins-server.cjs')
      text = text.replaceAll(`"${version}"`, '"v9.9.9"');
    writeFileSync(path.join(work, name), text);
    return path.join(work, name);
  });
  await makeWindowsExecutable(files, path.resolve(out), version.slice(1));
} finally {
  rmSync(work, { recursive: true });
}
