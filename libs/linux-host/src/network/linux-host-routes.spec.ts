import { LinuxError } from '../linux-error.js';
import { linuxHostRoutes, parseRoutes } from './linux-host-routes.js';

describe('the routes that ip lists', () => {
  it('are those of all makers, and those of wins have their mark', () => {
    const rows = [
      { dst: 'default', gateway: '10.9.0.2', dev: 'v0', protocol: '3', metric: 100 },
      { dst: '169.254.169.254', gateway: '10.9.0.2', dev: 'v0', protocol: '199', metric: 256 },
      { dst: '10.9.0.0/24', dev: 'v0', protocol: '2', scope: '253' },
    ];
    expect(parseRoutes(JSON.stringify(rows))).toEqual([
      ...[{ destination: '0.0.0.0/0', gateway: '10.9.0.2', interface: 'v0', metric: 100 }].map(
        (route) => ({ ...route, isMarked: false }),
      ),
      {
        ...{ destination: '169.254.169.254/32', gateway: '10.9.0.2', interface: 'v0' },
        ...{ metric: 256, isMarked: true },
      },
      { destination: '10.9.0.0/24', gateway: '', interface: 'v0', metric: 0, isMarked: false },
    ]);
  });

  it('have no interface where they lead nowhere, or to several next hops', () => {
    const rows = [
      { type: '6', dst: '10.21.0.0/16', dev: 'v0' },
      { dst: '10.22.0.0/16', nexthops: [{ gateway: '10.9.0.2', dev: 'v0' }], dev: 'v0' },
    ];
    expect(parseRoutes(JSON.stringify(rows)).map((route) => route.interface)).toEqual(['', '']);
  });

  it('leave out those for a type of service, which take no place of another', () => {
    expect(parseRoutes('[{"dst":"10.1.0.0/16","tos":"0x10","dev":"v0"}]')).toEqual([]);
    expect(parseRoutes('')).toEqual([]);
  });

  it.each(['default via 10.9.0.2', '{}'])('cannot be read of another program: %s', (text) => {
    expect(() => parseRoutes(text)).toThrow(LinuxError);
  });

  it('are those of this boot and network', () => {
    const routes = linuxHostRoutes();
    expect(routes.isThisBoot(routes.bootMark())).toBe(true);
    expect([routes.isThisBoot(''), routes.isThisBoot('another')]).toEqual([false, false]);
  });
});
