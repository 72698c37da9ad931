import { command } from '../../command-line/command.js';
import { server } from '../../load-applications.js';
import { textOutput } from '../daemon-options.js';
import { inherits, ofDaemon } from './options.js';

export const metricsCommand = command({
  name: 'metrics',
  summary: 'Print the metrics of the running daemon in the format of Prometheus',
  details: 'The exit code is 69 if metrics are disabled.',
  page: 'observability.md',
  inherits,
  options: { ...ofDaemon, output: textOutput },
  examples: [['srv metrics', 'the same as a scrape']],
  run: (values, _given, more) => server().showMetrics(values, more),
});
