import { parseConfig } from '../parse/parse-config.js';

const metricsOf = (listen: string, more = '') =>
  parseConfig(`metrics:\n  listen: "${listen}"\n${more}`).config.metrics;

describe('the section metrics', () => {
  it('is absent by default: nothing listens', () => {
    expect(parseConfig('debug: true').config.metrics).toBeUndefined();
  });

  it.each(['127.0.0.1:9797', '[::1]:9797', '127.1.2.3:1'])(
    'has an address such as %s',
    (listen) => {
      expect(metricsOf(listen)).toEqual({ listen, allowRemote: false });
    },
  );

  it.each(['0.0.0.0:9797', '[::]:9797', '10.0.0.7:9797'])(
    'takes %s only with allowRemote (A94)',
    (listen) => {
      expect(() => metricsOf(listen)).toThrow('expected a loopback address');
      const allowRemote = true;
      expect(metricsOf(listen, `  allowRemote: ${allowRemote}`)).toEqual({ listen, allowRemote });
    },
  );

  it.each(['localhost:9797', '9797', '127.0.0.1', '127.0.0.1:70000', ''])(
    'takes no %j',
    (listen) => {
      expect(() => metricsOf(listen)).toThrow('metrics.listen');
    },
  );
});
