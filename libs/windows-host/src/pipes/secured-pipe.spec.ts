import { securedPipe } from './secured-pipe.js';

describe('securedPipe', () => {
  it.each([
    ['nonsense', /its parts/],
    ['D:(A;;GA;;;EVERYBODY)', /"EVERYBODY" is not an account/],
    ['O:BA', /no access list, so everyone might/],
    ['D:(A;;GA;;;AU)S:(AU;SA;GA;;;WD)', /audit part/],
    ['D:(A;;GR;;;SY)', /does not let SYSTEM/],
    ['D:NO_ACCESS_CONTROL', /no access list/],
  ])('refuses to protect a pipe with %s', (sddl, message) => {
    expect(() => securedPipe({ sddl })).toThrow(message);
  });

  it('says elsewhere that Windows is needed', async () => {
    const events = { accepted: () => undefined, failed: () => undefined };
    const opening = securedPipe().open({ address: '\\\\.\\pipe\\x' }, events);
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' });
  });
});
