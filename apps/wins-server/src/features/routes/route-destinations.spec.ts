import { parseDestinations } from './judge-routes.js';

describe('destinations of routes', () => {
  it('are given once each, in canonical form', () => {
    expect(
      parseDestinations(['8.8.8.8', '8.8.8.8/32', '2001:DB8::1', '10.1.2.3/16']),
    ).toMatchObject([
      { text: '8.8.8.8', cidr: '8.8.8.8/32' },
      { text: '2001:db8::1', cidr: '2001:db8::1/128' },
      { text: '10.1.0.0/16', cidr: '10.1.0.0/16' },
    ]);
  });

  it.each([['0.0.0.0/0'], ['8.8.8.8/0'], ['::/0']])(
    'are refused by name when they are the default: %s',
    (text) => {
      expect(() => parseDestinations(['9.9.9.9', text])).toThrow(
        expect.objectContaining({
          code: 'invalidArgument',
          message: expect.stringMatching(/it is the default route/) as unknown,
        }) as Error,
      );
    },
  );
});
