import { EXIT, escapeText, UsageError, type Answer } from '@wins/base';
import type { ConfigSubject } from '@wins/wins-api';
import { withDaemon, type DaemonOptions } from '../daemon/connect-daemon.js';

export interface ExplainOptions extends DaemonOptions {
  readonly path?: string | undefined;
  readonly sha256?: string | undefined;
  readonly port?: number | undefined;
}

/** Exits with 126 when the daemon would refuse. For a port, the TCP verdict decides; the UDP verdict is shown too. */
export async function explain(options: ExplainOptions): Promise<Answer> {
  const subject = subjectOf(options);
  const judged = await withDaemon(options, (client) => client.config.explain(subject));
  const { allowed, reason, udp } = judged;
  const what = 'port' in subject ? `port ${subject.port}` : subject.path;
  const verdict = allowed ? 'allowed' : 'not allowed';
  const lines = [
    `${what}: ${verdict}`,
    ...(reason === '' ? [] : [`  ${reason}`]),
    ...(udp === undefined
      ? []
      : [`  UDP: ${udp.allowed ? 'allowed' : `not allowed: ${udp.reason}`}`]),
  ];
  return {
    exitCode: allowed ? EXIT.client.ok : EXIT.client.refused,
    // The daemon names the matching entry only to administrators of its host.
    value: { subject: what, ...judged },
    text: lines.map((line) => `${escapeText(line)}\n`).join(''),
    names: allowed ? [what] : [],
  };
}

function subjectOf({ path, sha256, port }: ExplainOptions): ConfigSubject {
  if (path !== undefined && port === undefined) return { path, sha256 };
  if (port === undefined || path !== undefined || sha256 !== undefined)
    throw new UsageError('wanted either --path PROGRAM [--sha256 DIGEST] or --port N');
  if (Number.isInteger(port) && port > 0 && port < 2 ** 16) return { port };
  throw new UsageError(`--port ${port} is not a port; wanted 1 to 65535`);
}
