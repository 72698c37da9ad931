import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { digestOf, tarOf, type PlayingRegistry } from '@wins/system-agent/testing';
import type { KeyPair } from '@wins/base/testing';

/** A TLS registry with the image `some/img:v1`, whose run.sh exits with 0. It also answers `/healthz` with 200. */
export interface ImageRegistry extends AsyncDisposable, PlayingRegistry {
  readonly port: number;
  readonly requests: readonly string[];
  /** Handlers that give the next requests a faulty response instead of the regular one. Each handler serves one request. */
  readonly faults: ((response: ServerResponse) => void)[];
}

export async function startImageRegistry(tls: KeyPair): Promise<ImageRegistry> {
  const script = '#!/bin/sh\necho from the image\n';
  const layer = await tarOf([{ name: 'run.sh', mode: 0o755, content: script }]);
  const rootfs = { type: 'layers', diff_ids: [digestOf(layer)] };
  const config = Buffer.from(JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs }));
  const described = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    size: bytes.length,
    digest: digestOf(bytes),
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: described('application/vnd.oci.image.config.v1+json', config),
      layers: [described('application/vnd.oci.image.layer.v1.tar', layer)],
    }),
  );
  const content = new Map([
    ['/v2/some/img/manifests/v1', manifest],
    [`/v2/some/img/blobs/${digestOf(config)}`, config],
    [`/v2/some/img/blobs/${digestOf(layer)}`, layer],
    ['/v2/', Buffer.from('{}')],
    ['/healthz', Buffer.from('ok')],
  ]);
  const requests: string[] = [];
  const faults: ((response: ServerResponse) => void)[] = [];
  const gate: PlayingRegistry['gate'] = () => false;
  const server = createServer(tls, (request: IncomingMessage, response) => {
    const { url = '' } = request;
    requests.push(url);
    if (registry.gate(request, response)) return;
    const bytes = content.get(url.replace(/\?.*$/, ''));
    const fault = faults.shift();
    if (fault !== undefined) fault(response);
    else if (bytes === undefined) response.writeHead(404).end();
    else response.end(bytes);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const registry: ImageRegistry = {
    port,
    url: `https://127.0.0.1:${port}`,
    requests,
    faults,
    gate,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return registry;
}
