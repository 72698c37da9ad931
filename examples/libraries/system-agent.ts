import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentError, createSystemAgent, parsePlan, posixPlanFiles } from '@wins/system-agent';
import { groupRunner } from '@wins/system-agent/testing';

const folder = await mkdtemp(path.join(tmpdir(), 'example-'));
const agent = createSystemAgent({
  workDirectory: path.join(folder, 'work'),
  preserveWorkDirectory: false,
  appliedPlanDirectory: path.join(folder, 'applied'),
  stateDirectory: path.join(folder, 'state'),
  clock: {
    now: () => new Date(),
    wait: async (ms, signal) => void (await delay(ms, undefined, { signal })),
  },
  files: posixPlanFiles(),
  programs: groupRunner(),
  images: { unpack: () => Promise.reject(new AgentError('imageFailed', 'there are no images')) },
  // Resolves once it is recorded; then it happens.
  onAct: async (act) => console.log(act.kind === 'file' ? act.action : act.instruction),
  onEvent: (event) => {
    if (event.kind === 'instructionEnded') console.log('exit code', event.exitCode);
  },
});

const plan = {
  files: [{ path: path.join(folder, 'node.yaml'), content: 'bm9kZQ==', uid: -1, gid: -1 }],
  instructions: [{ name: 'greet', command: 'echo', args: ['hello'], saveOutput: true }],
};
const { succeeded, outputs } = await agent.applyOnce(
  parsePlan(Buffer.from(JSON.stringify(plan))),
  AbortSignal.timeout(10_000),
);
console.log(succeeded, outputs['greet']?.toString());
await agent.close();
