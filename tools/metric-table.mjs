// The table of the daemon's metrics, for what compares pages, alerts and the dashboard with it.
import { build } from 'esbuild';
import path from 'node:path';

/** Where the table is, from the root of the repository. */
const METRIC_TABLE = 'apps/wins-server/src/features/metrics/metric-table.ts';

/** @returns What the file of the table exports. */
export async function loadMetricTable() {
  const { outputFiles } = await build({
    entryPoints: [path.resolve(import.meta.dirname, '..', METRIC_TABLE)],
    bundle: true,
    format: 'esm',
    write: false,
  });
  const [{ text }] = outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}
