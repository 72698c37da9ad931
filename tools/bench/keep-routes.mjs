// Applies 1,000 routes in its network namespace, with a record on the disk; prints the duration in milliseconds.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HostNetwork, routeRecords } from '@wins/host-network';
import { linuxHostRoutes } from '@wins/linux-host';
import { posixFileTrust } from '@wins/trusted-files';
import { peers } from './network-rows.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'wins-routes-'));
const host = linuxHostRoutes();
const complain = (problem) => console.error(problem);
const records = routeRecords({
  path: path.join(folder, 'state', 'routes.json'),
  trust: posixFileTrust(),
  host,
  onDamaged: complain,
});
const desired = { routes: [], peers: peers(1000) };
const start = performance.now();
const network = new HostNetwork(
  {
    host,
    records,
    onWarning: complain,
    onStatus: () => undefined,
    beforeSteps: () => Promise.resolve(),
  },
  desired,
);
const { standings, problems } = await network.apply();
const ms = performance.now() - start;
await network.close();
rmSync(folder, { recursive: true });
if (standings.some(({ state }) => state !== 'applied')) throw new Error(problems.join('\n'));
console.log(ms);
