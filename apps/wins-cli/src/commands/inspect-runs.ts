import type { Run, RunDetails } from '@wins/wins-api';
import { commandWord, EXIT, formatDuration, type CommandSurroundings } from '@wins/base';
import { withDaemonOfRun } from '../daemon/connect-daemon.js';
import type { NamedRunsOptions } from './follow-runs.js';
import { forEachName } from './for-each-name.js';
import { exitText, factsOf, formatBytes, limitsText } from './run-facts.js';

type Inspected = ReturnType<typeof detailsOf>;

/** Shows all that is known of runs, also if one of them cannot be found. */
export async function inspectRuns(
  options: NamedRunsOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const runs: Inspected[] = [];
  try {
    await forEachName(options.names, async (name) => {
      runs.push(
        await withDaemonOfRun(options, async (client) =>
          detailsOf(await client.runs.inspect(name)),
        ),
      );
    });
  } finally {
    if (runs.length > 0)
      await show({
        value: options.names.length === 1 ? runs[0] : runs,
        table: {
          headings: ['FIELD', 'VALUE'],
          rows: runs.flatMap((run, index) => [...(index === 0 ? [] : [['', '']]), ...rowsOf(run)]),
        },
        names: runs.map(({ name }) => name),
      });
  }
  return EXIT.client.ok;
}

function detailsOf(run: Run) {
  const details: Partial<RunDetails> = run.details ?? {};
  const { request, kept, owner, restartPolicy = 'no', failures = 0, outputBytes = 0 } = details;
  return {
    ...factsOf(run),
    args: request?.args ?? null,
    variables: request?.variables ?? null,
    directory: request?.directory ?? null,
    owner: owner ?? null,
    restartPolicy,
    failures,
    outputBytes,
    keptBytes: kept?.bytes ?? null,
    maxKeptBytes: kept?.maxBytes ?? null,
    maxAgeMs: kept?.maxAgeMs ?? null,
  };
}

function rowsOf(run: Inspected): readonly (readonly string[])[] {
  const unknown = 'not kept';
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['name', run.name],
    ['process', run.process],
    ['path', run.path],
    ['arguments', run.args?.map(commandWord).join(' ') ?? unknown],
    ['variables', run.variables?.join(' ') ?? unknown],
    ['directory', run.directory],
    ['sha256', run.sha256],
    ['owner', run.owner],
    ['state', run.state],
    ['pid', run.pid?.toString()],
    ['started', run.startedAt?.toISOString()],
    ['ended', run.endedAt?.toISOString()],
    ['exit', run.exit && `${exitText(run)} (${run.exit.reason})`],
    ['limits', limitsText(run)],
    ['restart policy', run.restartPolicy],
    ['restarts', run.restartPolicy === 'no' ? '' : run.restarts.toString()],
    ['failures', run.restartPolicy === 'no' ? '' : run.failures.toString()],
    ['starts again', run.restartAt?.toISOString()],
    ['gave up', run.gaveUp],
    ['refused', run.refused],
    ['output', formatBytes(run.outputBytes)],
    ['kept', keptText(run)],
  ];
  return rows.flatMap(([field, value]) => (value ? [[field, value]] : []));
}

function keptText({ keptBytes, maxKeptBytes, maxAgeMs }: Inspected): string {
  if (keptBytes === null || maxKeptBytes === null) return '';
  const size = `${formatBytes(keptBytes)} of ${formatBytes(maxKeptBytes)}`;
  if (maxAgeMs === 0) return `${size}, until the end`;
  return maxAgeMs === null ? size : `${size}, for ${formatDuration(maxAgeMs)} after the end`;
}
