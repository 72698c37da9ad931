import { parseConfig } from '../parse/parse-config.js';

const endpointOf = (endpoint: string) =>
  parseConfig(JSON.stringify({ tracing: { endpoint } })).config.tracing?.endpoint;

describe('the endpoint of tracing', () => {
  it.each(['http://127.0.0.1:4318', 'https://collector/a/b', 'http://[::1]:4318/'])(
    'is an address such as %s',
    (endpoint) => {
      expect(endpointOf(endpoint)).toBe(endpoint);
    },
  );

  it.each([
    'ftp://collector',
    'http://u:canary@collector',
    'http://c/?k=canary',
    'canary',
    'http://u:canary@collector:99999',
  ])('is not %s, which is not repeated', (endpoint) => {
    expect(() => endpointOf(endpoint)).toThrow('tracing.endpoint');
    expect(() => endpointOf(endpoint)).toThrow(
      expect.objectContaining({
        message: expect.not.stringContaining('canary') as string,
      }) as Error,
    );
  });
});
