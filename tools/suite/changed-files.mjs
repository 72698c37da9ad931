import { execFileSync } from 'node:child_process';
import { root } from './run-shown.mjs';

/** Returns files that differ from the upstream of this branch (from HEAD if it has none), and new files that Git does not ignore. */
export function changedFiles() {
  const base = git('rev-parse', '--verify', '--quiet', '@{upstream}') || 'HEAD';
  const files = [
    git('diff', '--name-only', base),
    git('ls-files', '--others', '--exclude-standard'),
  ];
  return files.flatMap((text) => text.split('\n')).filter(Boolean);
}

function git(...args) {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}
