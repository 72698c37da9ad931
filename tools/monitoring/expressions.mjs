// Lists the expressions of deploy/monitoring in the form that Prometheus evaluates.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
export const RULES = path.join(root, 'deploy/monitoring/wins-rules.yaml');
const DASHBOARD = path.join(root, 'deploy/monitoring/wins-dashboard.json');
// The daemon's version of yaml; the root of the workspace has another one.
const { parse } = createRequire(path.join(root, 'libs/net/package.json'))('yaml');

/** Grafana's variables, with values that select all nodes and suit a short test. */
const VARIABLES = [
  ['$__rate_interval', '1m'],
  ['$instance', '.*'],
];

export const dashboard = () => JSON.parse(readFileSync(DASHBOARD, 'utf8'));

export function panelQueries() {
  return dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: title,
      expr: VARIABLES.reduce((text, [name, value]) => text.replaceAll(name, value), expr),
    })),
  );
}

export function ruleExpressions() {
  return parse(readFileSync(RULES, 'utf8')).groups.flatMap(({ rules }) =>
    rules.map(({ alert, record, expr }) => ({ where: alert ?? record, expr, record })),
  );
}
