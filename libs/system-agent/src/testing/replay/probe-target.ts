import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export class ProbeTarget {
  #status = 200;
  #asked = 0;
  readonly #server = createServer((request, response) => {
    this.#asked += 1;
    // A broken connection has the same effect on a probe as a time-out, without the wait.
    if (request.url === '/slow' || request.url === '/') request.destroy();
    else if (request.url === '/redir') response.writeHead(302, { location: '/ok' }).end();
    else if (request.url === '/flapping') response.writeHead(this.#asked % 2 ? 200 : 500).end();
    else response.writeHead(request.url === '/healthz' ? this.#status : 200).end();
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  answer(status: number): void {
    this.#status = status;
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
