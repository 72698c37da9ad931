import { linuxHostRoutes } from './linux-host-routes.js';

describe('the routes of this Linux', () => {
  it('are those of this boot and network', () => {
    const routes = linuxHostRoutes();
    expect(routes.isThisBoot(routes.bootMark())).toBe(true);
    expect([routes.isThisBoot(''), routes.isThisBoot('another')]).toEqual([false, false]);
  });
});
