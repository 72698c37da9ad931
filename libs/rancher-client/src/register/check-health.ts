import { quoteForeign } from '@wins/net';
import { below, isHtml, rancherClient, type RancherSettings } from '../http/rancher-client.js';
import { RancherError } from '../rancher-error.js';
import type { ServerTrust } from '../trust/establish-trust.js';

const MAX_BYTES = 65_536;
/** Longer answers are not quoted: they may contain data meant for others. */
const TOLD_LENGTH = 32;
const TIMEOUT_MS = 60_000;

/** Waits until `/healthz` answers `ok`, at most `timeoutMs`, 1 min by default. @throws RancherError */
export async function checkHealth(
  { server, roots }: Pick<ServerTrust, 'server' | 'roots'>,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number | undefined } = {},
  settings: RancherSettings = {},
): Promise<void> {
  const what = `check the health of ${server.origin} (/healthz)`;
  using client = rancherClient(settings);
  await client.retry({ what, timeoutMs }, async (each) => {
    const request = { url: below(server, '/healthz'), trust: { roots } };
    const { answer, body } = await each.askForBytes(request, { what, maxBytes: MAX_BYTES });
    const text = body.toString('utf8').trim();
    if (text === 'ok') return;
    const found = isHtml(answer.headers, body)
      ? 'an HTML page'
      : text.length > TOLD_LENGTH
        ? `${body.length} bytes`
        : quoteForeign(text, each.settings.secrets);
    const message = `cannot ${what}: found ${found}; wanted "ok": check that this is the address of Rancher`;
    throw new RancherError('badShape', message);
  });
}
