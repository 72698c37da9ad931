import { ApplicationInfoResponse } from '../gen/application.js';
import { createInfoClient } from './create-info-client.js';
import type { UnaryRequest, UnaryTransport } from './unary-transport.js';

const BUILD = { Version: 'v1.2.3', Commit: 'abcdef12', Checksum: '01' };

/** A client of a transport that answers each call with these bytes. */
function clientOf(answer: ApplicationInfoResponse) {
  const asked: UnaryRequest[] = [];
  const transport: UnaryTransport = {
    isConnected: () => true,
    onConnected: (tell) => tell(),
    call: (request, done) => {
      asked.push(request);
      const message = Buffer.from(ApplicationInfoResponse.encode(answer).finish());
      setImmediate(() => done({ kind: 'answered', message }));
      return () => undefined;
    },
    close: () => Promise.resolve(),
  };
  return { asked, client: createInfoClient({ address: 'a pipe', transport }) };
}

describe('a client for info alone', () => {
  it('asks which build answers, in a call that may be made twice', async () => {
    const { asked, client } = clientOf({ Info: BUILD });
    expect(await client.info()).toEqual(BUILD);
    expect(asked).toMatchObject([{ path: '/wins.ApplicationService/Info', isRepeatable: true }]);
    await client.close();
  });

  it('rejects an answer without a build', async () => {
    await using client = clientOf({ Info: undefined }).client;
    await expect(client.info()).rejects.toMatchObject({ code: 'internal', method: 'Info' });
  });
});
