import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './workspace.js';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A library of this repository, and what a user of it would first reach for. */
export interface Library {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly name: string;
  readonly first: string;
  /** What it can be imported by. */
  readonly doors: readonly string[];
}

const FIRST: Readonly<Record<string, string>> = {
  '@wins/audit-log': 'openAuditLog',
  '@wins/config': 'parseConfig',
  '@wins/http2-connection': 'serveHttp2Connection',
  '@wins/linux-host': 'unixSocketPeers',
  '@wins/pipe-transport': 'listenPipe',
  '@wins/process-manager': 'createProcessManager',
  '@wins/service-upgrade': 'performUpgrade',
  '@wins/tcp-tunnel': 'openTunnel',
  '@wins/trusted-files': 'replaceFile',
  '@wins/windows-host': 'securedPipe',
  '@wins/wins-api': 'createWinsClient',
  '@wins/wins-program': 'escapeText',
};

/** All libraries. */
export const LIBRARIES: readonly Library[] = readdirSync(path.join(ROOT, 'libs')).map((name) => {
  const folder = path.join(ROOT, 'libs', name);
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  const doors = Object.keys(manifest.exports)
    .filter((door) => door !== './package.json')
    .map((door) => manifest.name + door.slice(1));
  const first = FIRST[manifest.name] ?? 'unknown';
  return { folder, manifest, name: manifest.name, first, doors };
});

const npm = path.join(
  path.dirname(process.execPath),
  process.platform === 'win32' ? 'npm.cmd' : 'npm',
);
const tsc = require.resolve('typescript/bin/tsc');

/** A project of somebody else into which libraries are installed from the files that would be published. */
export class PackageUser {
  readonly #folder: string;

  /** @param folder - Where the project is made. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'package.json'), '{ "name": "user", "private": true }');
  }

  /** Packs the libraries and installs them, with nothing else of ours. */
  install(libraries: readonly Library[]): void {
    const tarballs = libraries.map(({ folder }) => {
      const args = ['pack', '--json', '--pack-destination', this.#folder];
      const printed = execFileSync(npm, args, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const [packed] = JSON.parse(printed) as { filename: string }[];
      return path.join(this.#folder, packed?.filename ?? '');
    });
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe'];
    execFileSync(npm, ['install', ...options, ...tarballs], { cwd: this.#folder, stdio });
  }

  /** Requires all doors; gives what the first export is. */
  requires({ name, first, doors }: Library): string {
    return this.#run(
      'cjs.cjs',
      `const library = require('${name}');
for (const door of ${JSON.stringify(doors)}) require(door);
console.log(typeof library.${first});`,
    );
  }

  /** Imports all doors, by name; gives what the first export is. */
  imports({ name, first, doors }: Library): string {
    return this.#run(
      'esm.mjs',
      `import { ${first} } from '${name}';
${doors.map((door) => `await import('${door}');`).join('\n')}
console.log(typeof ${first});`,
    );
  }

  /** @throws Error when the types of a door are not known. */
  compiles({ name, first, doors }: Library): void {
    writeFileSync(
      path.join(this.#folder, 'typed.mts'),
      `import { ${first} } from '${name}';
${doors.map((door, index) => `import * as door${index} from '${door}'; void door${index};`).join('\n')}
// @ts-expect-error -- the type is known, so this is wrong
const wrong: 'not a function' = ${first};
void wrong;`,
    );
    const types = ['--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types')];
    const args = [tsc, '--noEmit', '--strict', '--module', 'nodenext', ...types, 'typed.mts'];
    const { status, stdout } = spawnSync(process.execPath, args, {
      cwd: this.#folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the types of ${name} cannot be used: ${stdout}`);
  }

  /** The files of a library as they were installed. */
  filesOf({ name }: Library): string[] {
    const installed = path.join(this.#folder, 'node_modules', name);
    return readdirSync(installed, { recursive: true, encoding: 'utf8' });
  }

  #run(file: string, source: string): string {
    writeFileSync(path.join(this.#folder, file), source);
    return execFileSync(process.execPath, [file], { cwd: this.#folder, encoding: 'utf8' }).trim();
  }
}
