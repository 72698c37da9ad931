import { metricsServiceDefinition } from '@wins/wins-api/contract';
import { escapeText, type Answer } from '@wins/base';
import { callRunningDaemon, type RunningDaemonOptions } from '../../client/running-daemon.js';

/** @throws DaemonCallError with exit code 69 if no daemon answers or metrics are disabled; 77 for users other than administrators. */
export async function showMetrics(options: RunningDaemonOptions): Promise<Answer> {
  const question = { asker: 'wins srv metrics' };
  const { scrape } = metricsServiceDefinition;
  const { text } = await callRunningDaemon(options, scrape, {}, question);
  const lines = text.split('\n');
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return {
    value: { text },
    // Escaped for the terminal, because another program may serve the pipe.
    text: lines.map((line) => escapeText(line)).join('\n'),
    table: {
      headings: ['METRIC', 'VALUE'],
      rows: samples.map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), line.slice(end + 1)];
      }),
    },
    names: [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name),
  };
}
