import { FEATURES } from './features/features.js';
import { removeFeatures } from './remove-features.js';

const FROM = { configFile: '/etc/config', isAdopted: false, keepsData: true };

describe('an uninstallation removes what features left on the host', () => {
  it('of those that leave something, and tells what stays', async () => {
    expect(await removeFeatures(FROM, 'the daemon runs')).toEqual([
      'detached runs: the daemon runs',
      'csi-proxy: the daemon runs',
      'network of the host: the daemon runs',
    ]);
    expect(FEATURES.length).toBeGreaterThan(3);
  });

  it('one after the other, although the removal of one fails', async () => {
    const removed: unknown[] = [];
    const leaving = (what: string, result: () => Promise<string | undefined>) => ({
      removal: {
        what,
        remove: (from: object) => {
          removed.push([what, from]);
          return result();
        },
      },
    });
    const features = [
      leaving('services', () => Promise.reject(new Error('it is busy'))),
      {},
      leaving('files', () => Promise.resolve(undefined)),
      leaving('routes', () => Promise.resolve('another program owns one')),
    ];
    expect(await removeFeatures(FROM, undefined, features)).toEqual([
      'services: it is busy',
      'routes: another program owns one',
    ]);
    expect(removed).toEqual([
      ['services', FROM],
      ['files', FROM],
      ['routes', FROM],
    ]);
  });

  it('and nothing of them while something hinders it', async () => {
    const remove = () => Promise.reject(new Error('must not be asked'));
    const stays = await removeFeatures(FROM, 'it runs', [{ removal: { what: 'files', remove } }]);
    expect(stays).toEqual(['files: it runs']);
  });
});
