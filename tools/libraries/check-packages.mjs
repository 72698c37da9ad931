// node tools/libraries/check-packages.mjs
// Packs the built libraries, and checks the packages with publint and "are the types wrong?". Also bundles small imports with esbuild, and checks
// their minified size.
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packLibraries } from './pack-libraries.mjs';
import { root } from './stage-library.mjs';

// The module resolution of Node 10 ignores "exports". Its problems are left out, because the packages do not run on Node 10.
const RESOLUTIONS_LEFT_OUT = ['node10'];

/** Size limit for small imports, such as an error class, in KB. */
const SMALL_KB = 20;
const SMALL = {
  config: ['ConfigError', 'defaultConfigPath'],
  files: ['NumberedFiles', 'StateFile'],
  'host-network': ['HostNetworkError', 'cloudRoutes'],
  'linux-host': ['LinuxError'],
  net: ['NetError', 'proxyOf', 'systemRoots'],
  installation: ['InstallError'],
  'pipe-transport': ['PipeError'],
  'process-manager': ['ProcessError'],
  'rancher-client': ['RancherError', 'newNodeId'],
  'service-upgrade': ['UpgradeError'],
  'system-agent': ['AgentError'],
  'tcp-tunnel': ['TunnelError', 'judgeDestination'],
  time: ['Backoff', 'systemClock', 'TokenBucket'],
  'trusted-files': ['TrustedFileError'],
  'windows-host': ['WindowsError'],
  'wins-api': ['WinsClientError'],
  base: ['quoteText'],
};
const problems = [];
const packages = packLibraries();
for (const { name, stage, tarball } of packages) {
  const manifest = JSON.parse(readFileSync(`${stage}/package.json`, 'utf8'));
  const bytes = readFileSync(tarball);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const { messages } = await publint({ strict: true, pack: { tarball: data } });
  for (const message of messages) problems.push(`${name}: ${formatMessage(message, manifest)}`);
  const verdict = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
  if (!verdict.types) {
    problems.push(`${name}: has no types`);
    continue;
  }
  for (const problem of verdict.problems)
    if (!('resolutionKind' in problem && RESOLUTIONS_LEFT_OUT.includes(problem.resolutionKind)))
      problems.push(`${name}: ${JSON.stringify(problem)}`);
}
const alias = Object.fromEntries(packages.flatMap(doorsOf));
for (const [library, names] of Object.entries(SMALL))
  for (const name of names) {
    const kb = (await sizeOf(library, name)) / 1000;
    if (kb > SMALL_KB)
      problems.push(`${name} of ${library}: ${kb} KB; wanted at most ${SMALL_KB} KB`);
  }
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/**
 * The bundler does not read the "exports" of an alias, so each door has one.
 *
 * @param {{ readonly name: string, readonly stage: string }} library
 */
function doorsOf({ name, stage }) {
  const { exports } = JSON.parse(readFileSync(`${stage}/package.json`, 'utf8'));
  const { '.': _main, './package.json': _manifest, ...doors } = exports;
  return [
    [name, stage],
    ...Object.entries(doors).map(([door, { module }]) => [
      `${name}${door.slice(1)}`,
      path.join(stage, module),
    ]),
  ];
}

async function sizeOf(library, name) {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { ${name} } from '@wins/${library}';`,
      resolveDir: root,
    },
    alias,
    mainFields: ['module', 'main'],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  });
  return outputFiles[0].contents.length;
}
