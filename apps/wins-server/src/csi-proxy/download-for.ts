import type { CsiProxyEvent, Download, DownloadTrust } from '@wins/csi-proxy';
import type { FileTrust } from '@wins/trusted-files';

export function downloadFor(
  _tls: DownloadTrust,
  _trust: FileTrust,
  _onEvent: (event: CsiProxyEvent) => void,
): Promise<Download> {
  return Promise.reject(new Error('there is no download yet'));
}
