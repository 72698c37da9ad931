// node tools/monitoring/check.mjs
// Checks the queries of deploy/monitoring. Every metric must have a panel, and the daemon's table of metrics must list every queried metric and
// label. promtool must accept the rules and queries, and the rules must fire as in wins-rules.test.yaml. A real Prometheus scrapes a daemon
// under load and evaluates the queries and rules. It must have data for every panel that the load affects.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadSources } from '../load-sources.mjs';
import { startDaemonUnderLoad } from './daemon-under-load.mjs';
import { dashboard, panelQueries, ruleExpressions, RULES } from './expressions.mjs';
import { unknownNames } from './known-names.mjs';
import { faultsOfPanels } from './layout.mjs';
import { startPrometheus } from './prometheus.mjs';
import { missing, PROMTOOL } from './prometheus-programs.mjs';

/** Limit for a hanging check, in ms. */
const LIMIT_MS = 120_000;
/** The load produces no data for these panels. */
const WITHOUT_DATA = new Set(['Last contact', 'Probes', 'csi-proxy', 'Age of host sources']);

assert.deepEqual(faultsOfPanels(dashboard()), []);
await checkNames();
if (missing === undefined || process.env.WINS_REQUIRE_WINDOWS === '1') {
  checkByPromtool();
  await checkByPrometheus();
} else console.log(`THE ALERTS AND THE DASHBOARD WERE NOT EVALUATED: this needs ${missing}`);

async function checkNames() {
  const { allMetrics, FEATURES } = await loadSources(
    "export { FEATURES } from './features.js'; export { allMetrics } from './metrics/metric-table.js';",
    'apps/wins-server/src/features',
  );
  const metrics = allMetrics(FEATURES);
  const rules = ruleExpressions();
  const records = new Map(rules.flatMap(({ record, expr }) => (record ? [[record, expr]] : [])));
  const problems = [...rules, ...panelQueries()].flatMap(({ where, expr }) =>
    unknownNames(expr, metrics, records).map((problem) => `${where}: ${problem}`),
  );
  assert.deepEqual(problems, []);
  const shown = panelQueries()
    .map(({ expr }) => expr)
    .join('\n');
  const withoutPanel = Object.keys(metrics).filter((name) => !shown.includes(name));
  assert.deepEqual(withoutPanel, [], 'metrics without a panel of the dashboard');
}

function checkByPromtool() {
  const promtool = (...words) =>
    execFileSync(PROMTOOL, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  promtool('check', 'rules', RULES);
  promtool('test', 'rules', path.join(import.meta.dirname, 'wins-rules.test.yaml'));
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-queries-'));
  try {
    // promtool accepts expressions only as rules.
    const rules = panelQueries().map(({ expr }, at) => ({ record: `panel:query:${at}`, expr }));
    const file = path.join(folder, 'queries.yaml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    promtool('check', 'rules', file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function checkByPrometheus() {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const daemon = await startDaemonUnderLoad();
  try {
    const prometheus = await startPrometheus(daemon.metricsPort, RULES);
    try {
      for (const cause of [
        'count_over_time(wins_run_ends_total[1m]) > 3',
        'count_over_time(wins_refusals_total[1m]) > 3',
        'count_over_time(wins_run_memory_bytes[1m]) > 3',
        'rate(wins_tunnel_bytes_total[1m]) > 0',
      ])
        await found(prometheus, cause, signal, 'the load does not produce these samples');
      await evaluate(prometheus, signal);
    } finally {
      await prometheus.close();
    }
  } finally {
    await daemon.close();
  }
}

/** Waits for samples. `otherwise` says what their absence means. */
async function found(prometheus, expression, signal, otherwise) {
  await prometheus.found(expression, signal).catch((cause) => {
    throw new Error(`${expression} has no result: ${otherwise}`, { cause });
  });
}

async function evaluate(prometheus, signal) {
  const queries = panelQueries();
  for (const { where, expr } of queries) {
    const { length } = await prometheus.query(expr);
    if (length > 0 || WITHOUT_DATA.has(where)) continue;
    // Waits for data, because on a busy machine earlier data may expire before the next scrape.
    await found(
      prometheus,
      expr,
      signal,
      `${where} has no data, although the load should produce some`,
    );
  }
  const rules = await prometheus.rules(signal);
  assert.equal(rules.length, ruleExpressions().length);
  for (const { name, health, lastError = '', state } of rules) {
    assert.deepEqual([name, health, lastError], [name, 'ok', '']);
    assert.notEqual(state, 'firing', `${name} fires at a daemon that is well`);
  }
  console.log(`${queries.length} queries and ${rules.length} rules of deploy/monitoring`);
}
