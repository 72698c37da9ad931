// Applies the plans (FOLDER/plans/*.plan) of a node until it is stopped: node node-agent.mjs FOLDER
import { once } from 'node:events';
import path from 'node:path';
import { posixProcessHost } from '@wins/linux-host';
import { CommandRunner } from '@wins/process-manager';
import {
  AgentError,
  createSystemAgent,
  posixPlanFiles,
  programRunner,
  type AgentEvent,
} from '@wins/system-agent';
import { systemClock } from '@wins/time';
import { jobObjectProcessHost, windowsFileTrust, windowsPlanFiles } from '@wins/windows-host';

const at = (name: string): string => path.resolve(process.argv[2] ?? 'agent', name);
const system =
  process.platform === 'win32'
    ? { host: jobObjectProcessHost, files: windowsPlanFiles(), trust: windowsFileTrust() }
    : { host: posixProcessHost, files: posixPlanFiles() };
const commands = new CommandRunner({ host: system.host, stateDirectory: at('state') });

function print(event: AgentEvent): void {
  if (event.kind === 'instructionEnded') console.log(event.instruction, event.exitCode);
  if (event.kind === 'passEnded') console.log('the plan was applied:', event.succeeded);
}

const agent = createSystemAgent({
  ...system,
  localPlanDirectory: at('plans'),
  appliedPlanDirectory: at('applied'),
  workDirectory: at('work'),
  stateDirectory: at('state'),
  preserveWorkDirectory: false,
  clock: systemClock,
  programs: programRunner(commands),
  images: { unpack: () => Promise.reject(new AgentError('imageFailed', 'there are no images')) },
  // A record that is durable belongs here: the action begins when this promise resolves.
  onAction: () => Promise.resolve(),
  onEvent: print,
});
console.log('ready');

await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await agent.close();
await commands.close();
