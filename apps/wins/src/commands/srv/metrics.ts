import { command } from '../../command-line/command.js';
import { server } from '../../load-applications.js';
import { textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

/** `wins srv metrics` */
export const metricsCommand = command({
  name: 'metrics',
  summary: 'Print the metrics of the running daemon, as Prometheus reads them',
  details: 'Ends with 69 when the config does not turn metrics on.',
  page: 'observability.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv metrics', 'what a scrape gives']],
  run: (values, _given, more) => server().showMetrics(values, more),
});
