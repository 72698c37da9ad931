// npm run generate
// Refreshes all that is generated from the sources and committed: project references, code of protos, reports of public faces, references of
// config, commands and metrics, sizes of packages, figures, and the format. `npm run check` compares the same things.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { binOf, nx, tsc } from './suite/checks.mjs';
import { root } from './suite/run-shown.mjs';

const libraries = readdirSync(path.join(root, 'libs')).map((name) => `libs/${name}`);
// Each step reads what the ones before it have made.
run('project references', nx, 'sync');
run('code of protos', 'tools/gen-proto.mjs', 'libs/wins-api');
run('libraries', tsc, '--build', ...libraries.map((each) => `${each}/tsconfig.lib.json`));
run('programs', nx, 'run-many', '-t', 'build', '-p', 'apps/*', '--outputStyle=static');
run('public faces', 'tools/api-reports.mjs');
run('config reference', 'tools/config-reference.mjs');
run('command reference', 'tools/command-reference.mjs');
run('metrics reference', 'tools/metrics-reference.mjs');
run('sizes of packages', 'tools/libraries/size-table.mjs');
run('figures', 'tools/figures.mjs');
run('format', binOf('prettier', 'bin/prettier.cjs'), '--write', '--log-level=warn', '.');

function run(title, ...args) {
  console.log(`\n── ${title}`);
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`cannot refresh the ${title}: see above`);
  process.exit(1);
}
