import { existsSync, readFileSync, statSync } from 'node:fs';
import { startWins } from '../testing/built-program.js';
import { base64, PlanNode, wellComponent } from '../testing/agent/plan-node.js';
import { processesWith, until } from '../testing/process-table.js';

const LOCAL = { localEnabled: true };
const SECRETS = {
  variable: 'canary-of-a-variable',
  argument: 'canary-of-an-argument',
  content: 'canary-of-a-file',
};

interface Status {
  readonly on: boolean;
  readonly sources: readonly {
    readonly source: string;
    readonly state: string;
    readonly probes: readonly object[];
  }[];
}

describe('a node with a local plan', () => {
  let node: PlanNode;
  let component: Awaited<ReturnType<typeof wellComponent>>;
  let file: string;

  beforeAll(async () => {
    node = new PlanNode();
    component = await wellComponent();
    file = node.workspace.path('etc', 'node.yaml');
    node.localPlan('node.plan', {
      files: [
        { path: file, content: base64(SECRETS.content), permissions: '0640', uid: -1, gid: -1 },
      ],
      instructions: [
        {
          name: 'greet',
          command: '/bin/sh',
          args: ['-c', 'printf %s "$WORD" | sha256sum', SECRETS.argument],
          env: [`WORD=${SECRETS.variable}`],
          saveOutput: true,
        },
      ],
      probes: { component: { httpGet: { url: component.url } } },
    });
    const daemon = await node.start(node.config(LOCAL));
    await daemon.logged(({ msg }) => msg === 'a probe of a plan has become healthy');
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await component[Symbol.asyncDispose]();
  });

  it('has its files, with their modes, and has run its instructions', async () => {
    expect(readFileSync(file, 'utf8')).toBe(SECRETS.content);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const ended = await node.daemon.logged(
      ({ msg }) => msg === 'an instruction of a plan has ended',
    );
    expect(ended).toMatchObject({ instruction: 'greet', exitCode: 0 });
  });

  it('reports the state of the plan', async () => {
    const status = await node.ask<Status>('status');
    expect(status).toMatchObject({
      on: true,
      sources: [{ state: 'applied', probes: [{ name: 'component', healthy: true }] }],
    });
    expect(status.sources[0]?.source).toMatch(/node\.plan$/);
    const { stdout } = await node.wins('srv', 'plan', 'status');
    expect(String(stdout)).toMatch(/node\.plan: applied[^]*probe component: healthy/);
  });

  it('shows the wanted plan and the applied ones, without secrets', async () => {
    const shown = await node.ask('show');
    expect(shown).toMatchObject([
      {
        files: [{ path: file, sizeBytes: SECRETS.content.length, permissions: '0640' }],
        instructions: [{ name: 'greet', argumentCount: 3, variables: ['WORD'] }],
        probes: [{ name: 'component', address: component.url }],
      },
    ]);
    const history = await node.ask('history');
    expect(history).toMatchObject([{ files: 1, instructions: 1, probes: 1 }]);
    const texts = [JSON.stringify([shown, history]), node.daemon.text];
    for (const command of ['status', 'show', 'history'])
      texts.push(String((await node.wins('srv', 'plan', command)).stdout));
    for (const secret of Object.values(SECRETS)) expect(texts.join()).not.toContain(secret);
  });

  it('records each action in the audit log, with the checksum of the plan', async () => {
    const { stdout } = await node.wins('srv', 'audit', 'show', '-o', 'json');
    const records = String(stdout)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const checksum = records.find(({ kind }) => kind === 'planWrite')?.['checksum'];
    expect(checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(records.filter(({ kind }) => String(kind).startsWith('plan'))).toMatchObject([
      { kind: 'planWrite', path: file, checksum },
      { kind: 'planInstruction', name: 'greet', path: '/bin/sh', checksum },
      { kind: 'planProbe', name: 'component', healthy: true, checksum },
    ]);
    for (const secret of Object.values(SECRETS)) expect(String(stdout)).not.toContain(secret);
  });

  it('does nothing in a dry run, and applies a plan by hand', async () => {
    const other = node.workspace.path('etc', 'other');
    const plan = {
      files: [{ path: other, content: base64('x'), uid: -1, gid: -1 }, { path: file }],
    };
    const text = node.workspace.write('hand.json', JSON.stringify(plan));
    const dry = await node.ask('apply', '--file', text, '--dry-run');
    expect(dry).toMatchObject({
      applied: false,
      plan: { files: [{ effect: 'create' }, { effect: 'replace' }] },
    });
    expect(existsSync(other)).toBe(false);
    const once = { files: plan.files.slice(0, 1) };
    node.workspace.write('hand.json', JSON.stringify(once));
    expect(await node.ask('apply', '--file', text)).toMatchObject({
      applied: true,
      succeeded: true,
    });
    expect(readFileSync(other, 'utf8')).toBe('x');
  });

  it('ends with 1 when an instruction fails, and with 65 for an invalid plan', async () => {
    const failing = { instructions: [{ name: 'no', command: '/bin/false' }] };
    const file = node.workspace.write('failing.json', JSON.stringify(failing));
    expect((await node.wins('srv', 'plan', 'apply', '--file', file)).code).toBe(1);
    const broken = node.workspace.write('broken.json', '{"files": 7}');
    const { code, stderr } = await node.wins('srv', 'plan', 'apply', '--file', broken);
    expect([code, stderr]).toEqual([65, expect.stringMatching(/an integer at files/)]);
    const none = await node.wins('srv', 'plan', 'apply', '--file', node.workspace.path('none'));
    expect(none.code).toBe(64);
  });
});

describe('an agent that runs an instruction', () => {
  async function busyNode() {
    const node = new PlanNode();
    const program = node.workspace.script('forever', 'sleep 100000 & sleep 100000');
    node.localPlan('forever.plan', { instructions: [{ name: 'forever', command: program }] });
    const run = node.workspace.script('long-run', 'echo up; exec sleep 100000');
    const config = node.config(LOCAL, [run]);
    await node.start(config);
    await until(() => processesWith(program).length > 0);
    return { node, program, run };
  }

  it('ends its whole process tree when the daemon stops', async () => {
    const { node, program } = await busyNode();
    await using _node = node;
    const { code } = await node.daemon.stop();
    expect(code).toBe(0);
    expect(processesWith(program)).toEqual([]);
  });

  it('also ends a hundred processes of an instruction', async () => {
    await using node = new PlanNode();
    const seconds = `100000.${process.pid}`;
    const script = `for i in $(seq 100); do sleep ${seconds} & done; wait`;
    const bomb = { name: 'bomb', command: '/bin/sh', args: ['-c', script] };
    node.localPlan('bomb.plan', { instructions: [bomb] });
    const daemon = await node.start(node.config(LOCAL));
    await until(() => processesWith('sleep', seconds).length >= 100);
    expect((await daemon.stop()).code).toBe(0);
    expect(processesWith(seconds)).toEqual([]);
  });

  it('ends in order when the instruction stops the daemon, and the next daemon repeats the instruction', async () => {
    await using node = new PlanNode();
    const [pid, runs] = [node.workspace.path('pid'), node.workspace.path('runs')];
    const script = `echo run >> ${runs}; if [ -e ${pid} ]; then daemon=$(cat ${pid}); rm ${pid}; kill $daemon; sleep 100000; fi`;
    const program = node.workspace.script('stop-the-daemon', script);
    const config = node.config(LOCAL);
    const daemon = await node.start(config);
    node.workspace.write('pid', String(daemon.child.pid));
    const plan = node.localPlan('stop.plan', { instructions: [{ name: 's', command: program }] });
    expect((await daemon.outcome).code).toBe(0);
    expect(processesWith(program)).toEqual([]);
    expect(existsSync(plan.replace(/plan$/, 'pos'))).toBe(false);
    const next = await node.start(config);
    await next.logged(({ msg }) => msg === 'a plan was applied');
    expect(readFileSync(runs, 'utf8')).toBe('run\nrun\n');
  });

  it('is turned off and on by a reload, which ends its process tree but no run', async () => {
    const { node, program, run } = await busyNode();
    await using _node = node;
    const client = startWins(['cli', 'prc', 'run', '--path', run], node.workspace.environment);
    await client.printed('up');
    const config = node.config(undefined, [run]);
    const reload = ['srv', 'config', 'reload', '--config', config];
    await node.wins(...reload, '--allow-drop', 'systemagent');
    await node.daemon.logged(({ msg }) => msg === 'plans are no longer followed');
    expect(processesWith(program)).toEqual([]);
    const { code, stderr } = await node.wins('srv', 'plan', 'show');
    expect([code, stderr]).toEqual([69, expect.stringMatching(/the agent is disabled/)]);
    expect(await node.ask<Status>('status')).toMatchObject({ on: false });
    node.config(LOCAL, [run]);
    await node.wins(...reload);
    await until(() => processesWith(program).length > 0);
    expect(client.child.exitCode).toBeNull();
    client.child.kill();
    await client.outcome;
  });

  it('leaves no process when the daemon is killed, because the next daemon ends it', async () => {
    const { node, program } = await busyNode();
    await using _node = node;
    const [before] = processesWith(program);
    await node.daemon.stop('SIGKILL');
    await node.start(node.config());
    expect(processesWith(program)).not.toContain(before);
    expect(processesWith(program)).toEqual([]);
  });
});
