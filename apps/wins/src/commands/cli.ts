import { app, cliOf } from './cli-app.js';
import { deliver } from './cli-deliver.js';
import { explain } from './cli-explain.js';
import { hostGroups } from './cli-host.js';
import { processes } from './cli-prc.js';
import { proxy } from './cli-proxy.js';
import { upgrade } from './cli-upgrade.js';

/** `wins cli` */
export const cli = cliOf([app, processes, proxy, explain, upgrade, deliver, ...hostGroups]);
