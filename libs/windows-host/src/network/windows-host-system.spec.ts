import { windowsHostSystem } from './windows-host-system.js';

const system = windowsHostSystem();

it.each([
  ['version', () => system.version()],
  ['adapter', () => system.adapter()],
  ['hnsNetwork', () => system.hnsNetwork({ name: 'nat' })],
  ['routes', () => system.routes()],
  ['addRoutes', () => system.addRoutes(['8.8.8.8'])],
  ['removeRoutes', () => system.removeRoutes(['8.8.8.8'])],
])('rejects %s with "unavailable" where there is no Windows', async (_name, call) => {
  await expect(call()).rejects.toMatchObject({ name: 'WindowsError', code: 'unavailable' });
});
