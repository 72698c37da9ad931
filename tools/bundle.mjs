// node tools/bundle.mjs <projectRoot> [--platform win32|linux --out FOLDER] [--inputs FILE] [--source-maps] [--stand-ins]
// Bundles an application into dist/: one CommonJS file for each entry of "bundles" in its
// package.json ({ "<output name>": "<entry>" }). The entry { "loadedBy": [FOLDER] } bundles the files that code in these folders loads with import()
// or require(); the other bundles load it when they need one of these files. The entry { "client": ENTRY } serves no calls. Takes the code of libs/ from its sources, never from built libraries. A bundle
// for one platform omits code for others. With --source-maps a debugger shows the sources. --inputs writes the list of bundled
// sources to FILE, as JSON.
// --stand-ins bundles the entries of "standIns" instead. Specs run these bundles, which may contain test doubles.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { placeFile } from './place-file.mjs';
import { koffiBesideBundle } from './windows/koffi-plugin.mjs';

const root = path.resolve(import.meta.dirname, '..');
const {
  positionals: [folder],
  values: { platform, out = path.join(root, 'dist'), inputs, ...flags },
} = parseArgs({
  allowPositionals: true,
  options: {
    platform: { type: 'string' },
    out: { type: 'string' },
    inputs: { type: 'string' },
    'source-maps': { type: 'boolean', default: false },
    'stand-ins': { type: 'boolean', default: false },
  },
});
const project = path.resolve(root, folder);
const manifest = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
const require = createRequire(path.join(project, 'package.json'));

function sourceRevision() {
  try {
    return execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown'; // a source archive has no history
  }
}

// The reflection package loads a .proto file beside itself. A bundle has no such file, so this plugin includes the parsed definition.
const protoFilesInside = {
  name: 'proto-files-inside',
  setup({ onLoad }) {
    const sites = /reflection-v1(alpha)?\.js$/;
    onLoad({ filter: sites }, (args) => {
      const source = readFileSync(args.path, 'utf8');
      const protobuf = require('protobufjs');
      const call = /proto_?[lL]oader(?:_\d)?\.loadSync\)?\(\s*([^,]+),/g;
      const found = [...source.matchAll(call)];
      if (found.length === 0)
        throw new Error(
          `${args.path}: this file no longer loads a .proto file; adapt tools/bundle.mjs`,
        );
      let contents = source;
      for (const [text, expression] of found) {
        const file = path.join(
          path.dirname(args.path),
          `../../proto/grpc/reflection/${args.path.includes('alpha') ? 'v1alpha' : 'v1'}/reflection.proto`,
        );
        // Parsing changes names to camel case unless the package sets `keepCase`.
        const keepCase = source.includes('keepCase: true');
        const parsed = new protobuf.Root()
          .loadSync(file, { keepCase })
          .toJSON({ keepComments: false });
        contents = contents.replace(
          text,
          text.replace('.loadSync', '.fromJSON').replace(expression, JSON.stringify(parsed)),
        );
      }
      return { contents, loader: 'js' };
    });
  },
};

// grpc-js loads its server, and balancers and resolvers for several servers, even in a client of one server. Together they are a third of the whole. The
// build fails if only some of these files are found.
const UNUSED = [
  'server',
  'server-credentials',
  'server-interceptors',
  'resolver-dns',
  'resolver-ip',
  'orca',
  'load-balancer-round-robin',
  'load-balancer-outlier-detection',
  'load-balancer-weighted-round-robin',
];
const withoutUnused = {
  name: 'without-unused',
  setup({ onLoad, onEnd }) {
    const files = new RegExp(
      `[\\\\/]grpc-js[\\\\/]build[\\\\/]src[\\\\/](?:${UNUSED.join('|')})\\.js$`,
    );
    let found = 0;
    onLoad({ filter: files }, () => {
      found += 1;
      return { contents: 'exports.setup = () => {};' };
    });
    onEnd(() => {
      if (found !== 0 && found !== UNUSED.length)
        throw new Error(
          `found ${found} of the ${UNUSED.length} files of grpc-js to leave out; adapt tools/bundle.mjs`,
        );
    });
  },
};

// grpc-js loads zlib for answers that are compressed, which a daemon never sends. Node takes 2 ms to load it.
const zlibWhenNeeded = {
  name: 'zlib-when-needed',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]grpc-js[\\/]build[\\/]src[\\/]compression-filter\.js$/ }, (args) => {
      const source = readFileSync(args.path, 'utf8');
      const contents = source.replace('const zlib = require("zlib");', '');
      if (contents === source)
        throw new Error(
          `${args.path}: this file loads zlib in another way; adapt tools/bundle.mjs`,
        );
      return { contents: contents.replaceAll('zlib.', 'require("zlib").'), loader: 'js' };
    });
  },
};

// yargs measures text with string-width, whose regular expressions take longer to compile than wins to start. Help is narrow text.
const narrowHelp = {
  name: 'narrow-help',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]string-width[\\/]index\.js$/ }, () => ({
      contents: 'export default (text) => text.length;',
    }));
  },
};

/** Path of each file in the lazy bundle, by its path in the project. */
const lazyFiles = new Map();
const [lazyName, { loadedBy }] = Object.entries(manifest.bundles).find(
  ([, entry]) => entry.loadedBy !== undefined,
) ?? ['', { loadedBy: [] }];
const LAZY_ENTRY = 'lazy-entry';

// Replaces a file of the lazy bundle by a call that loads it from there.
const lazyOutside = {
  name: 'lazy-outside',
  setup({ onResolve, onLoad }) {
    const folders = loadedBy.map((each) => path.join(project, each, path.sep));
    onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ kind, importer, path: wanted, resolveDir }) => {
      if (kind !== 'dynamic-import' && kind !== 'require-call') return undefined;
      if (!folders.some((each) => importer.startsWith(each))) return undefined;
      const file = path.join(resolveDir, wanted.replace(/\.js$/, '.ts'));
      const name = path.relative(project, file);
      lazyFiles.set(name, file);
      return { path: name, namespace: 'lazy' };
    });
    onLoad({ filter: /^/, namespace: 'lazy' }, ({ path: name }) => ({
      contents: `module.exports = require('./${lazyName}.cjs')[${JSON.stringify(name)}]();`,
      resolveDir: project,
    }));
  },
};

const lazyInside = {
  name: 'lazy-inside',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${LAZY_ENTRY}$`) }, ({ path: name }) => ({
      path: name,
      namespace: LAZY_ENTRY,
    }));
    onLoad({ filter: /^/, namespace: LAZY_ENTRY }, () => ({
      contents: Array.from(
        [...lazyFiles].sort(([one], [other]) => (one < other ? -1 : 1)),
        ([name, file]) =>
          `exports[${JSON.stringify(name)}] = () => require(${JSON.stringify(file)});`,
      ).join('\n'),
      resolveDir: project,
    }));
  },
};

const hasReflection = manifest.dependencies['@grpc/reflection'] !== undefined;
// yargs derives its own path from `import.meta.url`. This URL makes yargs look for package.json and texts beside the program. Otherwise it would
// search the working directory and its parents, where others may write.
const YARGS_URL =
  "const yargsUrl = `${require('url').pathToFileURL(__dirname)}/node_modules/yargs/lib/platform-shims/esm.mjs`;";
mkdirSync(out, { recursive: true });
const bundled = new Set();
const entries = flags['stand-ins'] ? manifest.standIns : manifest.bundles;
// Last, because the other bundles tell which files it has.
for (const [name, entry] of Object.entries(entries))
  if (entry.loadedBy !== undefined) await bundle(name, LAZY_ENTRY);
  else
    await bundle(
      name,
      path.join(project, entry.client ?? entry),
      hasReflection && entry.client === undefined,
    );

async function bundle(name, entry, isServer = hasReflection) {
  const outfile = path.join(out, `${name}.cjs`);
  const { metafile } = await build({
    metafile: true,
    entryPoints: [entry],
    outfile,
    // Paths in bundles are relative to this folder, regardless of the working directory.
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    // An executable has no import(), so lazy loading uses require.
    supported: { 'dynamic-import': false },
    conditions: ['@wins/source'],
    external: [
      // Programs require each other at run time.
      './wins*.cjs',
      // Reflection uses it; grpc-js loads it only for diagnostics, which are off.
      ...(hasReflection && entry === LAZY_ENTRY ? [] : ['@grpc/proto-loader']),
    ],
    define: {
      BUILD_VERSION: JSON.stringify(`v${manifest.version}`),
      BUILD_COMMIT: JSON.stringify(sourceRevision()),
      ...(platform !== undefined && { 'process.platform': JSON.stringify(platform) }),
      // Without these, ws looks for native add-ons in every node_modules folder up to the root of the disk, where others may be able to write.
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
      ...(name === 'wins-help' && {
        'import.meta.url': 'yargsUrl',
        // yargs calls `import.meta.resolve` only for config files that extend other files.
        'import.meta.resolve': 'undefined',
      }),
    },
    ...(name === 'wins-help' && { banner: { js: YARGS_URL } }),
    plugins: [
      koffiBesideBundle,
      entry === LAZY_ENTRY ? lazyInside : lazyOutside,
      zlibWhenNeeded,
      isServer ? protoFilesInside : withoutUnused,
      ...(name === 'wins-help' ? [narrowHelp] : []),
    ],
    minifySyntax: true,
    // Removes comments to save memory. V8 keeps a program's text, with two bytes per character unless all are ASCII. Names and line breaks stay for
    // stack traces.
    minifyWhitespace: true,
    lineLimit: 160,
    sourcemap: flags['source-maps'] && 'linked',
    legalComments: 'none',
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'error' },
  });
  // esbuild escapes other characters, except in regular expressions and tagged templates.
  const foreign = /.*\P{ASCII}/u.exec(readFileSync(outfile, 'utf8'))?.[0];
  if (foreign !== undefined)
    throw new Error(`${outfile}: a character that is not ASCII: ${foreign.slice(-80)}`);
  for (const output of Object.values(metafile.outputs))
    for (const [file, { bytesInOutput }] of Object.entries(output.inputs))
      if (bytesInOutput > 0) bundled.add(file);
}
// A test double must not replace security code in a released program.
const doubles = [...bundled].filter((file) =>
  /^(?:apps|libs)\/(?:.*\/)?testing\/|^apps\/wins-e2e\//.test(file),
);
if (doubles.length > 0 && !flags['stand-ins'])
  throw new Error(`a product bundle holds test code: ${doubles.join(', ')}`);
// Zod's classic API makes each start slower by 10 to 16 ms, and one `import { z }` brings 450 kB.
if ([...bundled].some((file) => /\/zod\/v4\/(?:classic\/|locales\/fr\.js$)/.test(file)))
  throw new Error(`a bundle of ${folder} holds too much of zod: import * as z from 'zod/mini'`);
if (inputs !== undefined) writeFileSync(inputs, JSON.stringify([...bundled].sort()));

// The daemon on Linux needs this addon to identify clients.
const linuxAddon = path.join(root, 'node_modules/@koromix/koffi-linux-x64/linux_x64/koffi.node');
if (platform === undefined && manifest.dependencies['@wins/linux-host'] && existsSync(linuxAddon))
  placeFile(linuxAddon, path.join(out, 'koffi-linux-x64.node'));
