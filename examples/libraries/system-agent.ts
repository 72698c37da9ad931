import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixProcessHost } from '@wins/linux-host';
import { CommandRunner } from '@wins/process-manager';
import {
  AgentError,
  createSystemAgent,
  parsePlan,
  posixPlanFiles,
  programRunner,
} from '@wins/system-agent';
import { systemClock } from '@wins/time';
import { jobObjectProcessHost, windowsFileTrust, windowsPlanFiles } from '@wins/windows-host';

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
const system =
  process.platform === 'win32'
    ? { host: jobObjectProcessHost, files: windowsPlanFiles(), trust: windowsFileTrust() }
    : { host: posixProcessHost, files: posixPlanFiles() };
const stateDirectory = path.join(folder, 'state');
const commands = new CommandRunner({ host: system.host, stateDirectory });
const agent = createSystemAgent({
  ...system,
  workDirectory: path.join(folder, 'work'),
  preserveWorkDirectory: false,
  appliedPlanDirectory: path.join(folder, 'applied'),
  stateDirectory,
  clock: systemClock,
  programs: programRunner(commands),
  images: { unpack: () => Promise.reject(new AgentError('imageFailed', 'there are no images')) },
  // The agent performs the action once this promise resolves, so a caller can record it first.
  onAction: async (action) =>
    console.log(action.kind === 'file' ? action.operation : action.instruction),
  onEvent: (event) => {
    if (event.kind === 'instructionEnded') console.log('exit code', event.exitCode);
  },
});

const plan = {
  files: [{ path: path.join(folder, 'node.yaml'), content: 'bm9kZQ==', uid: -1, gid: -1 }],
  instructions: [
    { name: 'greet', command: process.execPath, args: ['-p', '"hello"'], saveOutput: true },
  ],
};
const { succeeded, outputs } = await agent.applyOnce(parsePlan(Buffer.from(JSON.stringify(plan))), {
  signal: AbortSignal.timeout(60_000),
});
console.log(succeeded, outputs['greet']?.toString());
await agent.close();
await commands.close();
