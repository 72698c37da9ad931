import { metricsServiceDefinition } from '@wins/wins-api/contract';
import { escapeText, EXIT, type CommandSurroundings } from '@wins/base';
import { callRunningDaemon, type RunningDaemonOptions } from './running-daemon.js';

/**
 * `wins srv metrics`: prints all metrics of the running daemon, in the text format of Prometheus.
 * @throws DaemonCallError with an exit code: 69 without a daemon, or when its metrics are off; 77 when the user is not an administrator.
 */
export async function showMetrics(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const question = { asker: 'wins srv metrics' };
  const { scrape } = metricsServiceDefinition;
  const { Text: text } = await callRunningDaemon(options, scrape, {}, question);
  // Escaped for the terminal, because another program may serve the pipe.
  const shown = text.split('\n').map((line) => escapeText(line));
  await show({ value: { text }, text: shown.join('\n') });
  return EXIT.server.ok;
}
