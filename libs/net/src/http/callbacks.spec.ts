import { failingCallbacks } from '@wins/base/testing';
import { clientOf, closeAll, serve } from '../testing/server-harness.js';

describe('a request gets its answer when a callback fails:', () => {
  afterEach(closeAll);

  it.each(
    failingCallbacks({
      onWarning: async (callback) => {
        const server = await serve([
          (_request, response) => void response.writeHead(503).end(),
          (_request, response) => void response.end('ok'),
        ]);
        const { client } = clientOf({ onWarning: callback });
        const request = { url: server.url, trust: { roots: [] } };
        const { body } = await client.askForBytes(request, { what: 'ask', maxBytes: 1000 });
        expect(body.toString()).toBe('ok');
      },
    }),
  )('%s', (_name, play) => play());
});
