import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { standIn } from '../packages/package-folder.js';
import type { Workspace } from '../workspace.js';

/**
 * Creates a small, fast release that runs the built programs. With `version`, it runs copies that report that version.
 *
 * @param more - JavaScript to run first; `args` holds the arguments.
 */
export function nodeRelease(workspace: Workspace, version?: string, more = ''): string {
  const folder = version === undefined ? standIn() : copyOfDist(workspace, version);
  const source = `const args = process.argv.slice(2);\n${more}\nrequire(${JSON.stringify(path.join(folder, 'wins.cjs'))});`;
  return workspace.program(`releases/${version ?? 'this'}-${more.length}`, source);
}

function copyOfDist(workspace: Workspace, version: string): string {
  const folder = workspace.path('dist', version);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(standIn()).filter((each) => /^wins.*\.cjs$|\.node$/.test(each))) {
    const file = standIn(name);
    if (name.endsWith('.node')) copyFileSync(file, path.join(folder, name));
    else {
      const text = readFileSync(file, 'utf8').replace(/VERSION ?= ?"v\d[^"]*"/g, (found) =>
        found.replace(/"v.*"/, JSON.stringify(version)),
      );
      writeFileSync(path.join(folder, name), text);
    }
  }
  return folder;
}
