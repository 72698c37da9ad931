import { existsSync } from 'node:fs';

/** Absolute paths, because the PATH may contain other programs of these names. */
export const PROMETHEUS = '/usr/bin/prometheus';
export const PROMTOOL = '/usr/bin/promtool';

/** Missing programs for checking alerts and dashboard with Prometheus; undefined when all exist. */
export const missing = [PROMETHEUS, PROMTOOL].every((file) => existsSync(file))
  ? undefined
  : 'Prometheus (Debian: apt-get install prometheus)';
