// Lists every expression of deploy/monitoring, with its location, in the form that Prometheus evaluates.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
export const RULES = path.join(root, 'deploy/monitoring/wins-rules.yaml');
const DASHBOARD = path.join(root, 'deploy/monitoring/wins-dashboard.json');
// Loads the daemon's version of yaml, because the root of the workspace has another one.
const { parse } = createRequire(path.join(root, 'libs/config/package.json'))('yaml');

/** Values for Grafana's variables, which select all nodes and suit the duration of a test. */
const VARIABLES = [
  ['$__rate_interval', '1m'],
  ['$instance', '.*'],
];

/** The dashboard, as Grafana imports it. */
export const dashboard = () => JSON.parse(readFileSync(DASHBOARD, 'utf8'));

/** The queries of the dashboard: the title of the panel and the expression. */
export function panelQueries() {
  return dashboard().panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      where: title,
      expr: VARIABLES.reduce((text, [name, value]) => text.replaceAll(name, value), expr),
    })),
  );
}

/** The expressions of the rules, by the name of the alert or the record. */
export function ruleExpressions() {
  return parse(readFileSync(RULES, 'utf8')).groups.flatMap(({ rules }) =>
    rules.map(({ alert, record, expr }) => ({ where: alert ?? record, expr, record })),
  );
}
