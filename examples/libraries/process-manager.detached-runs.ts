import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from '@wins/linux-host';
import { privateTransport } from '@wins/pipe-transport';
import { lastEndOf, openDetachedRuns, serveKeeper, startKeeper } from '@wins/process-manager';
import { hashFile } from '@wins/trusted-files';
import { jobObjectProcessHost, windowsKeepers } from '@wins/windows-host';

const [file = '', script = '', role, state = ''] = process.argv;
const isWindows = process.platform === 'win32';
const host = isWindows ? jobObjectProcessHost : posixProcessHost;
const parts = isWindows ? windowsKeepers() : undefined;
const transport = privateTransport(parts);
const release = '1.0.0';

if (role === 'keeper') {
  // This program, in a process of its own, keeps the runs.
  await serveKeeper({ stateDirectory: state, host, release, transport });
} else {
  const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
  const program = path.join(folder, 'hello.exe');
  await copyFile(process.execPath, program);
  const { sha256 } = await hashFile(program, ['sha256']);
  const args = ['--eval', 'setTimeout(() => console.log("still here"), 500)'];

  const stateDirectory = path.join(folder, 'runs');
  const detached = { maxRuns: 1, spoolBytes: 1024 * 1024, maxAgeMs: 60_000 };
  const env = { SystemRoot: process.env['SystemRoot'] ?? '' };
  const keeper = { file, args: [script, 'keeper', stateDirectory], env };
  const start = () => startKeeper(keeper, parts?.start);
  const keepers = { release, transport, start };
  const options = { allowed: [{ path: program, detached }], stateDirectory, host, keepers };

  const before = await openDetachedRuns(options);
  const name = await before.start({ path: program, sha256, args, envs: [] });
  // The program goes on when this one ends, and the next one takes it over.
  await before.close();

  const runs = await openDetachedRuns(options);
  const run = runs.find(name);
  for await (const part of runs.read(run)) {
    if (part.stream === 'stdout') process.stdout.write(part.bytes);
  }
  console.log(lastEndOf(run)?.code);
  await runs.remove(name);
  await runs.close();
}
