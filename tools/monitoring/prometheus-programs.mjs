import { existsSync } from 'node:fs';

/** Absolute paths, because the PATH may contain other programs of these names. */
export const PROMETHEUS = '/usr/bin/prometheus';
export const PROMTOOL = '/usr/bin/promtool';

export const missing = [PROMETHEUS, PROMTOOL].every((file) => existsSync(file))
  ? undefined
  : 'Prometheus (Debian: apt-get install prometheus)';
