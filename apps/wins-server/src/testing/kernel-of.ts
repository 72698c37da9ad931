import { DaemonEvents } from '../kernel/daemon-events.js';
import type { Kernel } from '../kernel/feature.js';
import { createLoggerTo } from '../kernel/log/logger.js';

export function kernelOf(
  parts: { readonly [Part in keyof Kernel]?: unknown } = {},
  lines: string[] = [],
): Kernel {
  const logger = createLoggerTo(
    { debug: true, quiet: false },
    { write: (line) => lines.push(line) },
  );
  const kernel = { logger, events: new DaemonEvents(), features: () => [], ...parts };
  return kernel as unknown as Kernel;
}
