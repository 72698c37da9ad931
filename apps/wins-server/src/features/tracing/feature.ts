import type { TracingSettings } from '@wins/config';
import type { Feature } from '../../kernel/feature.js';
import { heavyParts } from '../../load-heavy-parts.js';
import type { RunningTracing } from './start-tracing.js';

/** Sends a span for each call whose client records a trace. Nothing waits for the collector. */
export const tracing: Feature<TracingSettings, RunningTracing> = {
  name: 'tracing',
  stage: 'observes',
  purpose: 'send spans',
  settings: ({ config }) => config.tracing ?? { reason: 'the config has no section tracing' },
  start: ({ endpoint }, { logger, events }) => {
    const sending = heavyParts()
      .tracing()
      .startTracing({
        ...{ endpoint, events },
        onChange: (isTaken, err) => {
          if (isTaken) logger.info({ endpoint }, 'the collector takes spans');
          else logger.warn({ endpoint, err }, 'the collector takes no spans: they are dropped');
        },
      });
    logger.info({ endpoint }, 'calls of clients that trace are sent as spans');
    return {
      close: async () => {
        await sending.close();
        logger.info('no spans are sent any more');
      },
    };
  },
};
