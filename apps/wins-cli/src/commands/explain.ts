import { EXIT, escapeText, UsageError, type CommandSurroundings } from '@wins/base';
import type { ConfigSubject } from '@wins/wins-api';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';

/** The options of `wins cli explain`. */
export interface ExplainOptions extends DaemonOptions {
  /** A program of the host: may this client run it? */
  readonly path?: string | undefined;
  /** With `path`: the SHA-256 digest that this client sees. */
  readonly sha256?: string | undefined;
  /** A port of the host: may this client reach it? */
  readonly port?: number | undefined;
}

/**
 * `wins cli explain`: whether the daemon would let this client run a program or reach a port, and why not; nothing is tried. Ends
 * with 126 when it would refuse.
 */
export async function explain(
  options: ExplainOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const subject = subjectOf(options);
  const { allowed, code, reason, entry } = await withDaemon(options, (client) =>
    client.config.explain(subject),
  );
  const what = 'port' in subject ? `port ${subject.port}` : subject.path;
  const verdict = allowed ? 'allowed' : 'not allowed';
  const lines = [`${what}: ${verdict}`, ...(reason === '' ? [] : [`  ${reason}`])];
  // The daemon says which entry it is to administrators of its host.
  const { key, file, line = 0 } = entry ?? {};
  await show({
    value: {
      ...{ subject: what, allowed, code, reason },
      ...(entry && { entry: { key, file, ...(line > 0 && { line }) } }),
    },
    text: lines.map((line) => `${escapeText(line)}\n`).join(''),
    names: allowed ? [what] : [],
  });
  return allowed ? EXIT.client.ok : EXIT.client.refused;
}

function subjectOf({ path, sha256, port }: ExplainOptions): ConfigSubject {
  if (path !== undefined && port === undefined) return { path, sha256 };
  if (port === undefined || path !== undefined || sha256 !== undefined) {
    throw new UsageError('wanted either --path PROGRAM [--sha256 DIGEST] or --port N');
  }
  if (Number.isInteger(port) && port > 0 && port < 2 ** 16) return { port };
  throw new UsageError(`--port ${port} is not a port; wanted 1 to 65535`);
}
