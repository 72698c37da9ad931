import { existsSync } from 'node:fs';

/** By their paths: what PATH names may be another program. */
export const PROMETHEUS = '/usr/bin/prometheus';
export const PROMTOOL = '/usr/bin/promtool';

/** Programs that the machine lacks to check alerts and dashboard with Prometheus itself; undefined when it has all. */
export const missing = [PROMETHEUS, PROMTOOL].every((file) => existsSync(file))
  ? undefined
  : 'Prometheus (Debian: apt-get install prometheus)';
