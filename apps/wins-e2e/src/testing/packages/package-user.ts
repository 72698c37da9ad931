import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, type Workspace } from '../workspace.js';
import { librariesFolder } from './package-folder.js';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Library {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly name: string;
  readonly first: string;
  readonly doors: readonly string[];
}

const FIRST: Readonly<Record<string, string>> = {
  '@wins/config': 'parseConfig',
  '@wins/files': 'RollingFile',
  '@wins/host-network': 'plan',
  '@wins/http2-connection': 'serveHttp2Connection',
  '@wins/linux-host': 'linuxClients',
  '@wins/net': 'proxyOf',
  '@wins/installation': 'planInstall',
  '@wins/pipe-transport': 'listenPipe',
  '@wins/process-manager': 'createProcessManager',
  '@wins/rancher-client': 'establishTrust',
  '@wins/service-upgrade': 'performUpgrade',
  '@wins/system-agent': 'createSystemAgent',
  '@wins/tcp-tunnel': 'openTunnel',
  '@wins/time': 'backoffMs',
  '@wins/trusted-files': 'replaceFile',
  '@wins/windows-host': 'securedPipe',
  '@wins/wins-api': 'createWinsClient',
  '@wins/base': 'escapeText',
};

export const LIBRARIES: readonly Library[] = readdirSync(path.join(ROOT, 'libs')).map((name) => {
  const folder = path.join(ROOT, 'libs', name);
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
  const doors = Object.keys(manifest.exports)
    .filter((door) => door !== './package.json')
    .map((door) => manifest.name + door.slice(1));
  const first = FIRST[manifest.name] ?? 'unknown';
  return { folder, manifest, name: manifest.name, first, doors };
});

export function readmeOf({ folder }: Library): string {
  return readFileSync(path.join(folder, 'README.md'), 'utf8');
}

/** Names of the examples: that of a library, or `LIBRARY.TOPIC`. */
export const EXAMPLES: readonly string[] = readdirSync(path.join(ROOT, 'examples/libraries')).map(
  (file) => path.basename(file, '.ts'),
);

/** Returns the library whose README has the example. */
export function libraryOf(example: string): Library {
  const [folder] = example.split('.');
  const library = LIBRARIES.find((each) => path.basename(each.folder) === folder);
  if (library === undefined) throw new Error(`the example ${example} belongs to no library`);
  return library;
}

/** Returns the examples of a library. */
export function examplesOf({ folder }: Library): readonly string[] {
  return EXAMPLES.filter((example) => example.split('.')[0] === path.basename(folder));
}

/** Returns the libraries that an example imports. */
export function importsOf(example: string): readonly string[] {
  const source = readFileSync(exampleOf(example), 'utf8');
  return [...source.matchAll(/ from '(@wins\/[a-z0-9-]+)/g)].map(([, name = '']) => name);
}

export function exampleOf(folder: string): string {
  return path.join(ROOT, 'examples/libraries', `${path.basename(folder)}.ts`);
}

const npm = path.join(
  path.dirname(process.execPath),
  process.platform === 'win32' ? 'npm.cmd' : 'npm',
);
const tsc = require.resolve('typescript/bin/tsc');

export const REPOSITORY = 'https://example.org/somebody/wins';

/** Module resolutions of TypeScript, with the extensions of source files to try. */
const RESOLUTIONS = {
  node16: ['mts', 'cts'],
  nodenext: ['mts', 'cts'],
  bundler: ['ts'],
} as const;

const FORMS = {
  'an ES module': 'es-module/*.mjs',
  CommonJS: 'commonjs/*.cjs',
  'a bundle of esbuild, an ES module': 'esbuild-esm/*.mjs',
  'a bundle of esbuild, CommonJS': 'esbuild-cjs/*.cjs',
  'a bundle of rollup': 'rollup/*.mjs',
  'a bundle of webpack': 'webpack/*.cjs',
} as const;

export type ExampleForm = keyof typeof FORMS;

export const EXAMPLE_FORMS = Object.keys(FORMS) as ExampleForm[];

export type Resolution = keyof typeof RESOLUTIONS;

/** Executables of Node by version; the oldest is first. */
export const nodeLines = (): ReadonlyMap<string, string> => {
  const tool = path.join(ROOT, 'tools/libraries/node-lines.mjs');
  const files = execFileSync(process.execPath, [tool], { encoding: 'utf8' }).trim().split('\n');
  return new Map(files.map((file) => [/-([\d.]+)\/bin\/node$/.exec(file)?.[1] ?? file, file]));
};

/** Runs an example as dist/examples has it, in one form. Returns what it printed. */
export function printedBy(
  example: string,
  form: ExampleForm,
  args: readonly string[],
  workspace: Workspace,
  node = process.execPath,
): string {
  const file = path.join(librariesFolder(), 'built', FORMS[form].replace('*', example));
  // Examples leave folders behind, and READMEs show output without the colours that a test runner may request.
  const temporary = workspace.path('temporary');
  mkdirSync(temporary, { recursive: true });
  const env = { ...workspace.environment, TMPDIR: temporary, FORCE_COLOR: '0' };
  return execFileSync(node, [file, ...args], { cwd: workspace.folder, encoding: 'utf8', env });
}

/** A user's project with libraries installed from the files that would be published. */
export class PackageUser {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'package.json'), '{ "name": "user", "private": true }');
  }

  /** Packs the libraries and installs them without other packages of this repository. */
  install(libraries: readonly Library[]): void {
    const names = libraries.map(({ folder }) => path.basename(folder));
    const tool = path.join(ROOT, 'tools/libraries/pack-libraries.mjs');
    const pack = [tool, '--repository', REPOSITORY, '--out', this.#folder, ...names];
    const tarballs = execFileSync(process.execPath, pack, { encoding: 'utf8' }).trim().split('\n');
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe'];
    execFileSync(npm, ['install', ...options, ...tarballs], { cwd: this.#folder, stdio });
  }

  /**
   * Imports all entry points, and requires the main one. Returns the type of the export `first`, as imported and as
   * required. `isOne` is true if both are the same object.
   */
  loads({ name, first, doors }: Library): { imported: string; required: string; isOne: boolean } {
    const printed = this.#run(
      'both.mjs',
      `import { createRequire } from 'node:module';
import { ${first} } from '${name}';
const required = createRequire(import.meta.url)('${name}').${first};
for (const door of ${JSON.stringify(doors)}) await import(door);
const isOne = required === ${first};
console.log(JSON.stringify({ imported: typeof ${first}, required: typeof required, isOne }));`,
    );
    return JSON.parse(printed) as { imported: string; required: string; isOne: boolean };
  }

  /** Calls `require` for the fallback files, which are for tools that know only CommonJS. Returns the type of the export `first`. */
  requiresCommonJs(library: Library): string {
    const { exports } = this.manifestOf(library) as unknown as {
      exports: Record<string, { default: { default: string } }>;
    };
    const files = library.doors.map((door) => {
      const { default: file } = exports[`.${door.slice(library.name.length)}`]?.default ?? {};
      return path.join(this.#folder, 'node_modules', library.name, file ?? 'missing');
    });
    return this.#run(
      'old.cjs',
      `const [library] = ${JSON.stringify(files)}.map((file) => require(file));
console.log(typeof library.${library.first});`,
    );
  }

  /**
   * Compiles the examples, and a program that imports every entry point.
   *
   * @throws Error when the types of an entry point are not found.
   */
  compiles(libraries: readonly Library[], resolution: Resolution): void {
    const source = libraries
      .map(
        ({ name, first, doors }, at) => `import { ${first} as first${at} } from '${name}';
${doors.map((door, index) => `import * as door${at}_${index} from '${door}'; void door${at}_${index};`).join('\n')}
// @ts-expect-error -- the type is known, so this is wrong
const wrong${at}: 'not a function' = first${at};
void wrong${at};`,
      )
      .join('\n');
    const files = RESOLUTIONS[resolution].map((end) => `typed.${end}`);
    for (const file of files) writeFileSync(path.join(this.#folder, file), source);
    // Examples use top-level await, which CommonJS does not allow.
    const known = libraries.map(({ name }) => name);
    const compiled = libraries
      .flatMap(examplesOf)
      .filter((example) => importsOf(example).every((name) => known.includes(name)));
    const examples = compiled.map((example) => {
      const file = `examples/${example}.${RESOLUTIONS[resolution][0]}`;
      cpSync(exampleOf(example), path.join(this.#folder, file));
      return file;
    });
    this.#compile(resolution, ['--outDir', `built-${resolution}`, ...files, ...examples]);
  }

  /** Loads the libraries with `require` in Jest, which cannot load ES modules. Returns the number of passed tests. */
  loadsInJest(libraries: readonly Library[]): number {
    const names = JSON.stringify(libraries.map(({ name, first }) => [name, first]));
    const test = `test.each(${names})('%s', (name, first) => expect(typeof require(name)[first]).toBe('function'));`;
    writeFileSync(path.join(this.#folder, 'packages.test.js'), test);
    const options = ['--rootDir', this.#folder, '--transform', '{}', '--json', '--no-watchman'];
    const printed = execFileSync(process.execPath, [require.resolve('jest/bin/jest'), ...options], {
      cwd: this.#folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return (JSON.parse(printed) as { numPassedTests: number }).numPassedTests;
  }

  filesOf({ name }: Library): string[] {
    const installed = path.join(this.#folder, 'node_modules', name);
    return readdirSync(installed, { recursive: true, encoding: 'utf8' });
  }

  installedReadmeOf({ name }: Library): string {
    return readFileSync(path.join(this.#folder, 'node_modules', name, 'README.md'), 'utf8');
  }

  manifestOf({ name }: Library): Record<string, unknown> {
    const file = path.join(this.#folder, 'node_modules', name, 'package.json');
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  }

  #compile(resolution: Resolution, args: readonly string[]): void {
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    // Third-party types are not under test, hence `--skipLibCheck`.
    const options = [
      '--strict',
      '--skipLibCheck',
      '--target',
      'es2022',
      '--lib',
      'es2023,esnext.disposable',
    ];
    const types = ['--types', 'node', '--typeRoots', path.join(ROOT, 'node_modules/@types')];
    const how = ['--module', module, '--moduleResolution', resolution, ...options, ...types];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...how, ...args], {
      cwd: this.#folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${resolution} finds no types: ${stdout}`);
  }

  #run(file: string, source: string): string {
    writeFileSync(path.join(this.#folder, file), source);
    return execFileSync(process.execPath, [file], { cwd: this.#folder, encoding: 'utf8' }).trim();
  }
}
