// node tools/libraries/size-table.mjs [--check]
// Writes docs/package-sizes.md: what one import of a library costs whoever bundles it, minified, with all that it brings. With --check
// it writes nothing, and fails when an import costs more than its limit, or a tenth more than the table says.
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { libraries, root, stageLibrary } from './stage-library.mjs';

/** What is small has this limit: an error class, and a rule that is data alone. */
const SMALL_KB = 20;
const SMALL = {
  config: ['ConfigError', 'defaultConfigPath'],
  files: ['NumberedFiles', 'StateFile'],
  'linux-host': ['LinuxError'],
  net: ['NetError', 'proxyOf', 'systemRoots'],
  'node-install': ['InstallError'],
  'pipe-transport': ['PipeError'],
  'process-manager': ['ProcessError'],
  'rancher-server': ['RancherError', 'newNodeId'],
  'service-upgrade': ['UpgradeError'],
  'system-agent': ['AgentError'],
  'tcp-tunnel': ['TunnelError', 'judgeDestination'],
  time: ['Backoff', 'systemClock', 'TokenBucket'],
  'trusted-files': ['TrustedFileError'],
  'windows-host': ['WindowsError'],
  'wins-api': ['WinsClientError'],
  'wins-program': ['quoteText'],
};
/** What the rest costs is told, and may not grow unseen. */
const LARGE = {
  config: ['parseConfig'],
  files: ['RollingFile'],
  'http2-connection': ['serveHttp2Connection'],
  'linux-host': ['linuxHostSystem'],
  net: ['HttpClient'],
  'node-install': ['planInstall', 'applyPlan'],
  'pipe-transport': ['connectPipe'],
  'process-manager': ['createProcessManager'],
  'rancher-server': ['createDownload', 'registerNode'],
  'service-upgrade': ['performUpgrade'],
  'system-agent': ['createSystemAgent'],
  'tcp-tunnel': ['openTunnel'],
  'trusted-files': ['replaceFile'],
  'windows-host': ['securedPipe'],
  'wins-api': ['runProcess'],
};

const table = path.join(root, 'docs/package-sizes.md');
const packages = Object.fromEntries(libraries.map((name) => [`@wins/${name}`, stageLibrary(name)]));
const rows = [];
for (const library of libraries)
  for (const [names, limitKb] of [
    [SMALL[library], SMALL_KB],
    [LARGE[library], undefined],
  ])
    for (const name of names ?? [])
      rows.push({ library, name, limitKb, kb: Math.ceil((await sizeOf(library, name)) / 1000) });

const problems = rows
  .filter(({ kb, limitKb = Infinity }) => kb > limitKb)
  .map(({ library, name, kb, limitKb }) => `${name} of ${library}: ${kb} KB; wanted ${limitKb}`);
if (process.argv[2] === '--check') check();
else {
  const options = await resolveConfig(table);
  writeFileSync(table, await format(text(), { ...options, parser: 'markdown' }));
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

async function sizeOf(library, name) {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { ${name} } from '@wins/${library}';`,
      resolveDir: root,
    },
    alias: packages,
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

function check() {
  const committed = readFileSync(table, 'utf8');
  for (const { library, name, kb } of rows) {
    const row = new RegExp(`\`@wins/${library}\` +\\| \`${name}\` +\\| +(\\d+) `).exec(committed);
    if (row === null || kb > Number(row[1]) * 1.1 + 1)
      problems.push(
        `${name} of ${library}: found ${kb} KB, and ${row?.[1] ?? 'nothing'} in docs/package-sizes.md; if it is meant: npm run generate`,
      );
  }
}

function text() {
  const line = ({ library, name, kb, limitKb = '' }) =>
    `| \`@wins/${library}\` | \`${name}\` | ${kb} | ${limitKb} |`;
  return `# What an import costs

One import from each package, bundled with all that it brings and minified by esbuild (ES modules, Node 20.19). Made by
\`npm run generate\`; \`npm run check\` fails when one grows by more than a tenth, or beyond its limit.

| package | import | KB | limit |
| --- | --- | ---: | ---: |
${rows.map(line).join('\n')}
`;
}
