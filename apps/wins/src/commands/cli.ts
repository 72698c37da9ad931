import type { Group } from '../command-line/command.js';
import { app } from './cli-app.js';
import { deliver } from './cli-deliver.js';
import { explain } from './cli-explain.js';
import { hostGroups } from './cli-host.js';
import { processes } from './cli-prc.js';
import { proxy } from './cli-proxy.js';
import { upgrade } from './cli-upgrade.js';

export const cli: Group = {
  name: 'cli',
  aliases: ['client'],
  summary: 'Use the host through the daemon',
  page: 'errors.md',
  commands: [app, processes, proxy, explain, upgrade, deliver, ...hostGroups],
};
