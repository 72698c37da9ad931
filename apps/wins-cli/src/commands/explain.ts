import { EXIT, escapeText } from '@wins/wins-program';
import type { ConfigSubject } from '@wins/wins-api';
import { CommandError } from '../command-error.js';
import { withDaemon } from '../daemon/connect-daemon.js';
import { daemonAddress, type DaemonOptions } from '../daemon/daemon-address.js';
import { writeAll, writeJson } from '../output.js';

/** The options of `wins cli explain`. */
export interface ExplainOptions extends DaemonOptions {
  readonly output: 'json' | 'table';
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
export async function explain(options: ExplainOptions): Promise<number> {
  const subject = subjectOf(options);
  const { Allowed, Code, Reason, Entry } = await withDaemon(daemonAddress(options), (client) =>
    client.config.explain(subject),
  );
  const what = 'port' in subject ? `port ${subject.port}` : subject.path;
  if (options.output === 'table') {
    const verdict = Allowed ? 'allowed' : 'not allowed';
    const lines = [`${what}: ${verdict}`, ...(Reason === '' ? [] : [`  ${Reason}`])];
    const text = lines.map((line) => `${escapeText(line)}\n`).join('');
    await writeAll(process.stdout, Buffer.from(text));
  } else {
    // The daemon says which entry it is to administrators of its host.
    const entry = Entry && { Key: Entry.Key, File: Entry.File, Line: Entry.Line };
    await writeJson({ Subject: what, Allowed, Code, Reason, ...(entry && { Entry: entry }) });
  }
  return Allowed ? EXIT.client.ok : EXIT.client.refused;
}

function subjectOf({ path, sha256, port }: ExplainOptions): ConfigSubject {
  if (path !== undefined && port === undefined) return { path, sha256 };
  if (port === undefined || path !== undefined || sha256 !== undefined) {
    throw new CommandError(
      'cannot explain: found no question or two; wanted --path PROGRAM [--sha256 DIGEST], or --port N',
    );
  }
  if (Number.isInteger(port) && port > 0 && port < 2 ** 16) return { port };
  throw new CommandError(`cannot explain: found --port ${port}; wanted 1 to 65535`);
}
