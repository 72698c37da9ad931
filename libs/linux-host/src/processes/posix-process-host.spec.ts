import { canonicalPath } from '@wins/base';
import childProcess from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from './posix-process-host.js';

describe('a start of a file that somebody has open for writing', () => {
  it('is tried again after each wait, and says why not after the last try', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'linux-host-'));
    const file = path.join(directory, 'tool');
    writeFileSync(file, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const writer = openSync(file, 'a');
    const spawns = jest.spyOn(childProcess, 'spawn');
    const started = posixProcessHost({
      failure: (code, message) => Object.assign(new Error(message), { code }),
    }).start({
      mark: 'ab'.repeat(16),
      lineage: 'cd'.repeat(8),
      file,
      argv0: file,
      args: [],
      env: {},
      directory: '/',
    });
    await expect(started).rejects.toMatchObject({
      code: 'spawnFailed',
      message: expect.stringMatching(/: text file is busy \(ETXTBSY\)$/) as string,
    });
    expect(spawns).toHaveBeenCalledTimes(7);
    spawns.mockRestore();
    closeSync(writer);
    rmSync(directory, { recursive: true });
  });
});

it('inherits the hard limit of descriptors, to which Node raises its own at its start', () => {
  const limits = "require('node:fs').readFileSync('/proc/self/limits', 'utf8')";
  const script = `const [, soft, hard] = /^Max open files +(\\d+) +(\\d+)/m.exec(${limits}); process.exit(soft === hard ? 0 : 1)`;
  const start = 'ulimit -Sn 100; exec "$0" -e "$1"';
  const { status } = childProcess.spawnSync('/bin/sh', ['-c', start, process.execPath, script]);
  expect(status).toBe(0);
});

describe('a place that others can write to', () => {
  const host = posixProcessHost({
    failure: (code, message, details) => Object.assign(new Error(message), { code, ...details }),
  });
  let root: string;
  let folder: string;
  let file: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'linux-host-'));
    folder = path.join(root, 'bin');
    file = path.join(folder, 'tool');
    mkdirSync(folder);
    writeFileSync(file, '', { mode: 0o755 });
  });

  afterEach(() => rmSync(root, { recursive: true }));

  it('is refused for a program and a working directory, with the rule and the step of the path', async () => {
    await host.assertTrustedFile(canonicalPath(file));
    await host.assertTrustedDirectory(canonicalPath(folder));
    chmodSync(folder, 0o777);
    const refused = { code: 'pathNotTrusted', rule: 'A7 writable by other users' };
    const found = `${JSON.stringify(folder)}: group or others can write to it (mode 0777); wanted a`;
    await expect(host.assertTrustedFile(canonicalPath(file))).rejects.toMatchObject({
      ...refused,
      path: file,
      message: expect.stringContaining(`cannot run "${file}" because of ${found}`) as string,
    });
    await expect(host.assertTrustedDirectory(canonicalPath(folder))).rejects.toMatchObject({
      ...refused,
      path: folder,
      message: expect.stringContaining(`cannot work in ${found}`) as string,
    });
  });

  it('is refused for records, also where it lies above them', () => {
    host.ensurePrivateDirectory(path.join(folder, 'state'));
    chmodSync(folder, 0o777);
    for (const state of ['state', 'other']) {
      expect(() => host.ensurePrivateDirectory(path.join(folder, state))).toThrow(
        expect.objectContaining({ code: 'stateUnavailable' }) as Error,
      );
    }
  });

  it('is told from one that is not there', async () => {
    const missing = path.join(root, 'none', 'tool');
    await expect(host.assertTrustedFile(canonicalPath(missing))).rejects.toMatchObject({
      code: 'notFound',
      cause: { code: 'ENOENT' },
    });
  });
});
