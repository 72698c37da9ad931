import { Client, credentials } from '@grpc/grpc-js';
import { silent, startApiServer, type ApiServer } from '@wins/system-agent/testing';
import {
  HealthCheckResponse,
  HealthStatus,
  healthServiceDefinition,
} from '@wins/wins-api/contract';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { base64, PlanNode } from '../testing/agent/plan-node.js';
import { until } from '../testing/process-table.js';

const SECRETS = {
  variable: 'canary-of-a-variable',
  argument: 'canary-of-an-argument',
  content: 'canary-of-a-file',
  output: 'canary-of-an-output',
};

describe('a node whose plan is in a Secret', () => {
  let api: ApiServer;
  let node: PlanNode;
  let file: string;

  beforeAll(async () => {
    api = await startApiServer();
    node = new PlanNode();
    file = node.workspace.path('etc', 'node.yaml');
    const output = node.workspace.script('say', `echo ${SECRETS.output}`);
    const plan = {
      files: [{ path: file, content: base64(SECRETS.content), uid: -1, gid: -1 }],
      instructions: [
        {
          name: 'say',
          command: output,
          args: [SECRETS.argument],
          env: [`WORD=${SECRETS.variable}`],
          saveOutput: true,
        },
      ],
    };
    api.create({ plan: JSON.stringify(plan) });
    await node.start(node.remoteConfig(api));
    await until(() => api.data()['applied-checksum'] !== undefined);
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await api.close();
  });

  it('writes the result to the Secret', () => {
    expect(readFileSync(file, 'utf8')).toBe(SECRETS.content);
    const { 'applied-output': output, 'success-count': count } = api.data();
    const outputs: unknown = JSON.parse(gunzipSync(output ?? '').toString());
    expect(outputs).toEqual({ say: base64(`${SECRETS.output}\n`) });
    expect(String(count)).toBe('1');
  });

  it('applies the next plan as soon as it is in the Secret', async () => {
    const next = node.workspace.path('etc', 'next');
    const before = String(api.data()['applied-checksum']);
    const plan = { files: [{ path: next, content: base64('next'), uid: -1, gid: -1 }] };
    api.update({ plan: JSON.stringify(plan) });
    await until(() => String(api.data()['applied-checksum']) !== before);
    expect(readFileSync(next, 'utf8')).toBe('next');
    const status = await node.ask<{ lastContact: string }>('status');
    expect(Date.parse(status.lastContact)).not.toBeNaN();
    expect(status).toMatchObject({ on: true, sources: [{ source: 'remote', state: 'applied' }] });
  });

  it('has secrets only where they belong', async () => {
    const told = [node.daemon.text];
    for (const words of [
      ...['status', 'show', 'history'].map((name) => ['plan', name, '-o', 'json']),
      ['audit', 'show', '-o', 'json'],
    ])
      told.push(String((await node.wins('srv', ...words)).stdout));
    const doctor = await node.wins('doctor', '--config', node.workspace.path('config'));
    told.push(String(doctor.stdout), doctor.stderr);
    for (const secret of [...Object.values(SECRETS), api.token])
      expect(told.join()).not.toContain(secret);
    const { variable, argument, content } = SECRETS;
    // The history of plans is allowed to contain secrets, because its folder is private.
    const history = /^agent\/applied\//;
    for (const secret of [variable, argument])
      expect(node.filesWith(secret).filter((name) => !history.test(name))).toEqual([]);
    expect(node.filesWith(content)).toEqual(['etc/node.yaml']);
    expect(node.filesWith(api.token)).toEqual(['connection_info.json']);
  });

  it('is checked by the doctor: connection, rights and folders', async () => {
    const { stdout } = await node.wins('doctor', '--config', node.workspace.path('config'));
    const said = String(stdout);
    expect(said).toMatch(
      /^ok +agent +the API server answers, and the Secret can be read and written/m,
    );
    expect(said).toMatch(/^ok +plan +remote: applied/m);
  });

  it('is a problem for the doctor when it may not write the Secret', async () => {
    const info = api.connectionInfo({ token: api.readerToken });
    expect(await doctorWith(info)).toMatch(/^problem +agent +cannot write the Secret: .*403/m);
  });

  it('is a problem for the doctor when the API server does not answer', async () => {
    const hanging = await startApiServer();
    hanging.fault(silent);
    try {
      const found = await doctorWith(hanging.connectionInfo());
      expect(found).toMatch(/^problem +agent +the API server did not answer within 5 s$/m);
    } finally {
      await hanging.close();
    }
  });

  async function doctorWith(info: string): Promise<string> {
    const connectionInfoFile = node.workspace.write('other-connection.json', info);
    const text = readFileSync(node.workspace.path('config'), 'utf8');
    const config = JSON.parse(text) as { systemagent: object };
    Object.assign(config.systemagent, { connectionInfoFile });
    const file = node.workspace.write('other-config', JSON.stringify(config));
    const { stdout } = await node.wins('doctor', '--config', file);
    return String(stdout);
  }
});

it('serves at once while the API server is away, says so, and follows the plan once it is back', async () => {
  const api = await startApiServer();
  await using node = new PlanNode();
  const config = node.remoteConfig(api);
  api.create({ plan: '{}' });
  await api.down();
  const daemon = await node.start(config);
  expect((await node.wins('cli', 'app', 'info')).code).toBe(0);
  const isUnwell = ({ state }: Readonly<Record<string, unknown>>) => state === 'disconnected';
  await daemon.logged(isUnwell);
  const ready = await daemon.logged(({ msg }) => msg === 'ready');
  const health = new Client(`unix:${String(ready['address'])}`, credentials.createInsecure());
  const healthOf = (service: string) =>
    new Promise<HealthStatus | undefined>((resolve, reject) => {
      const { path, requestSerialize } = healthServiceDefinition.check;
      const serialize = (name: string) => requestSerialize({ service: name });
      const read = (bytes: Buffer) => HealthCheckResponse.decode(bytes);
      health.makeUnaryRequest(path, serialize, read, service, (error, answer) =>
        error === null ? resolve(answer?.status) : reject(error),
      );
    });
  expect(await healthOf('')).toBe(HealthStatus.SERVING);
  expect(await healthOf('wins.PlanService')).toBe(HealthStatus.NOT_SERVING);
  const doctor = await node.wins('doctor', '--config', config);
  expect(String(doctor.stdout)).toMatch(/^problem +plan +remote: /m);
  await api.up();
  await until(() => api.data()['applied-checksum'] !== undefined);
  await until(() => api.data()['success-count'] !== undefined);
  health.close();
  await api.close();
});
