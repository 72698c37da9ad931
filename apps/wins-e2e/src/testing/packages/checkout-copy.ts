import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ROOT } from '../workspace.js';

const PINNED = path.join('node_modules', '.cache', 'wins-windows');

const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });

export function runAsAnotherUser(home: string, ...args: string[]): void {
  const habits = { TZ: 'Asia/Tokyo', LANG: 'tr_TR.UTF-8', HOME: home, CI: '1' };
  execFileSync(process.execPath, args, { cwd: home, env: { ...process.env, ...habits } });
}

/** Copies sources and installed packages, without build results. */
export function copyCheckout(folder: string): void {
  const sources = git('ls-files', '-co', '--exclude-standard', '-z').split('\0').filter(Boolean);
  for (const file of sources.filter((name) => existsSync(path.join(ROOT, name)))) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    copyFileSync(path.join(ROOT, file), path.join(folder, file));
  }
  writeFileSync(path.join(folder, '.git'), `gitdir: ${git('rev-parse', '--absolute-git-dir')}`);

  // npm puts some packages below the workspace that needs them.
  const workspaces = ['apps', 'libs'].flatMap((group) =>
    readdirSync(path.join(ROOT, group)).map((name) => path.join(group, name)),
  );
  for (const workspace of ['.', ...workspaces]) {
    const [from, to] = [ROOT, folder].map((root) => path.join(root, workspace, 'node_modules'));
    if (from === undefined || to === undefined || !existsSync(from)) continue;
    const packages = readdirSync(from).filter((name) => name !== '.cache');
    // Another version of npm may leave empty folders.
    if (packages.length === 0) continue;
    mkdirSync(to);
    execFileSync('cp', ['-a', ...packages, to], { cwd: from });
  }
  // Link the pinned downloads, so that the copy need not download them.
  const [from, to] = [ROOT, folder].map((root) => path.join(root, PINNED)) as [string, string];
  mkdirSync(to, { recursive: true });
  const pinned = readdirSync(from).filter((name) => /-\d+\.\d+\.\d+$/.test(name));
  for (const name of pinned) symlinkSync(path.join(from, name), path.join(to, name));
}
