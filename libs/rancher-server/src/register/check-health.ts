import { askForBytes } from '../http/ask.js';
import { completeSettings, type HttpSettings } from '../http/http-settings.js';
import { below } from '../http/parse-address.js';
import { quoteForeign } from '../http/foreign-text.js';
import { isHtml } from '../http/judge-text.js';
import { retry } from '../http/retry.js';
import { RancherError } from '../rancher-error.js';
import type { ServerTrust } from '../trust/server-trust.js';

const MAX_BYTES = 65_536;
/** More is not what the check of a server says, and may be meant for somebody else. */
const TOLD_LENGTH = 32;
const TIMEOUT_MS = 60_000;

/**
 * Asks `/healthz`, and resolves when the server says `ok`.
 *
 * @param timeoutMs - For how long a server that is not well is asked again. Default: 1 min.
 * @throws RancherError
 */
export async function checkHealth(
  { server, roots }: Pick<ServerTrust, 'server' | 'roots'>,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
  settings: HttpSettings = {},
): Promise<void> {
  const what = `ask ${server.origin} whether it is well (/healthz)`;
  await retry({ what, timeoutMs, settings: completeSettings(settings) }, async (each) => {
    const question = { url: below(server, '/healthz'), authority: { roots } };
    const asked = { what, maxBytes: MAX_BYTES, settings: each };
    const { answer, body } = await askForBytes(question, asked);
    const text = body.toString('utf8').trim();
    if (text === 'ok') return;
    const found = isHtml(answer.headers, body)
      ? 'an HTML page'
      : text.length > TOLD_LENGTH
        ? `${body.length} bytes`
        : quoteForeign(text, each.secrets);
    const message = `cannot ${what}: found ${found}; wanted "ok": is this the address of Rancher?`;
    throw new RancherError('badShape', message);
  });
}
