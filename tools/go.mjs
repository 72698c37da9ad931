// Builds programs of Go with Debian's Go and its packages. Nothing is downloaded.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const GO = '/usr/bin/go';
const GOPATH = '/usr/share/gocode';

/** Whether Go and these packages, such as `sigs.k8s.io/yaml`, are there. */
export function hasGo(packages) {
  return (
    spawnSync(GO, ['version'], { stdio: 'ignore' }).status === 0 &&
    packages.every((name) => existsSync(path.join(GOPATH, 'src', name)))
  );
}

/**
 * Builds the program of a folder.
 *
 * @param {string} folder
 * @param {{ output: string, cache: string }} files - `output`: the program; `cache`: a folder that makes the next build faster.
 */
export function buildGo(folder, { output, cache }) {
  // Without cgo, Go compiles its packages for networks again. With cgo it needs a C compiler.
  const hasCompiler = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
  execFileSync(GO, ['build', '-o', output, '.'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      GOCACHE: cache,
      GOPATH,
      GO111MODULE: 'off',
      GOPROXY: 'off',
      CGO_ENABLED: hasCompiler ? '1' : '0',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}
