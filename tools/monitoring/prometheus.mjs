// Runs a real Prometheus that scrapes one target and evaluates the rules.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../free-port.mjs';
import { PROMETHEUS } from './prometheus-programs.mjs';

const AGAIN_MS = 100;

export async function startPrometheus(targetPort, rules) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-prometheus-'));
  const port = await freePort();
  const config = path.join(folder, 'prometheus.yml');
  // JSON is valid YAML.
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
      rule_files: [rules],
      scrape_configs: [
        { job_name: 'wins', static_configs: [{ targets: [`127.0.0.1:${targetPort}`] }] },
      ],
    }),
  );
  const child = spawn(
    PROMETHEUS,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const ask = async (question) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${question}`);
    const { status, data, error } = await answer.json();
    if (status !== 'success') throw new Error(error);
    return data;
  };
  const prometheus = {
    /** Throws an error with Prometheus' message if the expression is invalid. */
    query: async (expr) => (await ask(`query?query=${encodeURIComponent(expr)}`)).result,
    /** Waits until each rule was evaluated. */
    rules: async (signal) => {
      for (;;) {
        const rules = (await ask('rules')).groups.flatMap(({ rules: ofGroup }) => ofGroup);
        if (rules.every(({ health }) => health !== 'unknown')) return rules;
        await delay(AGAIN_MS, undefined, { signal });
      }
    },
    found: async (expr, signal) => {
      for (;;) {
        const result = await prometheus.query(expr).catch((error) => {
          if (child.exitCode !== null) throw error;
          return [];
        });
        if (result.length > 0) return;
        await delay(AGAIN_MS, undefined, { signal });
      }
    },
    close: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return prometheus;
}
