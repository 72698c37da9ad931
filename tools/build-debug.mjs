// npm run build:debug: builds all programs with source maps in dist/debug. A debugger then shows the sources: `node --inspect dist/debug/wins.cjs`.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const bundle = path.join(root, 'tools/bundle.mjs');
const out = path.join(root, 'dist/debug');
for (const application of ['wins', 'wins-cli', 'wins-server', 'wins-upgrade'])
  execFileSync(process.execPath, [bundle, `apps/${application}`, '--out', out, '--source-maps'], {
    stdio: 'inherit',
  });
