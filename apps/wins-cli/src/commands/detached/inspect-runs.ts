import { WinsClientError, type DetachedRunDetails, type WinsClient } from '@wins/wins-api';
import { commandWord, EXIT, formatDuration, type CommandSurroundings } from '@wins/base';
import { withDaemonOfRun } from '../../daemon/connect-daemon.js';
import type { NamedRunsOptions } from './detached-runs.js';
import { forEachName } from '../for-each-name.js';
import { exitText, outcomeOf } from './list-detached.js';
import { formatBytes, limitFigures, limitsText, nameOf } from '../process-ls.js';

type Inspected = Awaited<ReturnType<typeof inspectRun>>;

/** Shows all that is known of runs, also if one of them cannot be found. */
export async function inspectRuns(
  options: NamedRunsOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const runs: Inspected[] = [];
  try {
    await forEachName(options.names, async (name) => {
      runs.push(await withDaemonOfRun(options, (client) => inspectRun(client, name)));
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

async function inspectRun(client: WinsClient, name: string) {
  try {
    return detachedRun(await client.detached.inspect(name));
  } catch (error) {
    const isUnknown = error instanceof WinsClientError && error.code === 'notFound';
    const run = isUnknown ? await heldRun(client, name) : undefined;
    if (run === undefined) throw error;
    return run;
  }
}

function detachedRun(details: DetachedRunDetails) {
  const { end: _end, needsSha256: _digest, restart: restartPolicy, limits, ...facts } = details;
  const isBegun = details.pid !== 0;
  return {
    ...facts,
    ...outcomeOf(details),
    ...(!isBegun && { pid: null, startedAt: null }),
    sha256: details.sha256 ?? null,
    directory: details.directory ?? null,
    ...limitFigures(limits),
    restartPolicy,
    outputBytes: details.outputBytes,
    maxAgeMs: details.maxAgeMs ?? null,
  };
}

/**
 * Describes a living run without `--detach`, if it is this client's or an administrator asks. The daemon keeps neither its arguments nor the
 * names of its variables.
 */
async function heldRun(client: WinsClient, name: string) {
  // The daemon measures only runs that the client may know.
  const { runs } = await client.measureRuns(name).catch((error: unknown) => {
    if (error instanceof WinsClientError && error.code === 'notFound') return { runs: [] };
    throw error;
  });
  const [measured] = runs;
  const listed = (await client.listProcesses()).find(
    (run) => run.name === name && run.startedAt.getTime() === measured?.startedAt.getTime(),
  );
  if (measured === undefined || listed === undefined) return undefined;
  return {
    name: nameOf(listed),
    process: listed.name,
    path: listed.path,
    pid: listed.pid,
    state: listed.state,
    startedAt: listed.startedAt,
    endedAt: null,
    exit: null,
    restarts: 0,
    restartAt: null,
    gaveUp: null,
    refused: null,
    sha256: listed.sha256,
    args: null,
    variables: null,
    directory: null,
    ...limitFigures(listed.limits),
    owner: null,
    restartPolicy: 'no',
    failures: 0,
    outputBytes: measured.stdoutBytes + measured.stderrBytes,
    keptBytes: null,
    maxKeptBytes: null,
    maxAgeMs: null,
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
    ['exit', run.exit && `${exitText(run.exit)} (${run.exit.reason})`],
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
  if (keptBytes === null) return '';
  const size = `${formatBytes(keptBytes)} of ${formatBytes(maxKeptBytes)}`;
  if (maxAgeMs === 0) return `${size}, until the end`;
  return maxAgeMs === null ? size : `${size}, for ${formatDuration(maxAgeMs)} after the end`;
}
