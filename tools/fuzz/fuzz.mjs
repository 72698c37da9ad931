// node tools/fuzz/fuzz.mjs [--target T]… [--cases N] [--seconds S [--at-least N]] [--seed X]
// Runs the corpus and then generated cases against each target (by default all targets, 1,000 cases, no time limit). A seed always gives the same
// cases. Shortens a failed case and prints it as JSON. If you save it in corpus/<target>/, later runs try it first. Exits with 1 after a failure.
// Uses the built daemon.
import { parseArgs } from 'node:util';
import { loadSources } from '../load-sources.mjs';
import { play } from './play.mjs';
import { openAudit } from './targets/audit.mjs';
import { openConfig } from './targets/config.mjs';
import { openDaemon } from './targets/daemon.mjs';
import { openFiles } from './targets/files.mjs';
import { openGrpc } from './targets/grpc.mjs';
import { openHttp2 } from './targets/http2.mjs';
import { openJournal } from './targets/journal.mjs';
import { openRegistry } from './targets/registry.mjs';
import { openSignature } from './targets/signature.mjs';
import { openSpool } from './targets/spool.mjs';
import { openTunnelTarget } from './targets/tunnel.mjs';

const TARGETS = {
  http2: openHttp2,
  grpc: openGrpc,
  tunnel: openTunnelTarget,
  config: openConfig,
  journal: openJournal,
  files: openFiles,
  registry: openRegistry,
  signature: openSignature,
  audit: openAudit,
  spool: openSpool,
  daemon: openDaemon,
};

const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: Object.keys(TARGETS) },
    cases: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: 'Infinity' },
    'at-least': { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
  },
});
const unknown = values.target.find((name) => !Object.hasOwn(TARGETS, name));
if (unknown !== undefined)
  throw new Error(`no target ${unknown}; wanted one of ${Object.keys(TARGETS).join(', ')}`);
const given = [values.cases, values.seconds, values['at-least'], values.seed].map(Number);
if (given.some((number) => !(number >= 0)))
  throw new Error('--cases, --seconds, --at-least and --seed must be numbers');
const [cases, seconds, atLeast, seed] = given;

const faces = await loadSources("export * from './faces.js'", 'tools/fuzz');
let failed = 0;
for (const name of values.target) {
  const target = await TARGETS[name](faces);
  const begun = performance.now();
  const { failure, ...result } = await play(target, { cases, seconds, atLeast, seed });
  const note = await target.close();
  const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  const slowest = `slowest ${result.slowestMs.toFixed(0)} ms (${result.slowest})`;
  console.log(
    `${name}: seed ${seed}, ${result.cases} cases, ${took}, ${slowest}${note ? `, ${note}` : ''}`,
  );
  if (failure === undefined) continue;
  failed += 1;
  console.log(`${name}: FAILED at ${failure.label}: ${failure.error.stack}`);
  console.log(JSON.stringify(failure.given));
}
process.exitCode = failed === 0 ? 0 : 1;
