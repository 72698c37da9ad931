import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  applicationServiceDefinition,
  configServiceDefinition,
  type ApplicationServiceServer,
} from '@wins/wins-api/contract';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadedFiles } from './loaded-files.js';
import type { NodeParts } from '../node-of-system.js';

const CONFIG = '/etc/rancher/wins/config';
const CONTENT = 'a program';
const digestOf = (algorithm: string): string => createHash(algorithm).update(CONTENT).digest('hex');

const DESCRIBED = { found: true, startedAtMs: 0, pid: 0 };

describe('what a running daemon has loaded', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-loaded-'));
  const program = path.join(folder, 'wins');
  const pipe = path.join(folder, 'pipe');
  const server = new Server();
  const admin = new Server();
  const node = {
    upgrade: {
      service: {
        query: () =>
          Promise.resolve({ state: 'running', command: { imagePath: program, args: [] } }),
      },
      pipeOf: () => Promise.resolve(pipe),
    } as unknown as NodeParts['upgrade'],
  };

  beforeAll(async () => {
    const application: ApplicationServiceServer = {
      info: (_call, done) =>
        done(null, { info: { checksum: digestOf('sha1'), version: 'v1.0.0', commit: '' } }),
    };
    server.addService(applicationServiceDefinition, application);
    server.addService(configServiceDefinition, {
      describe: (_call: unknown, done: (error: null, answer: object) => void) =>
        done(null, { ...DESCRIBED, file: CONFIG, sha256: 'c'.repeat(64) }),
    });
    const bind = promisify(server.bindAsync.bind(server));
    await bind(`unix:${pipe}`, ServerCredentials.createInsecure());
  });
  afterAll(() => {
    server.forceShutdown();
    admin.forceShutdown();
    rmSync(folder, { recursive: true });
  });

  it('is its config, and the program that lies where it was started from', async () => {
    writeFileSync(program, CONTENT);
    expect(await loadedFiles(node)).toEqual(
      new Map([
        [CONFIG, 'c'.repeat(64)],
        [program, digestOf('sha256')],
      ]),
    );
  });

  it('is its config alone when its program was renamed or removed', async () => {
    rmSync(program, { force: true });
    expect(await loadedFiles(node)).toEqual(new Map([[CONFIG, 'c'.repeat(64)]]));
  });

  it('is asked of its pipe of administrators, where it has one', async () => {
    admin.addService(configServiceDefinition, {
      describe: (_call: unknown, done: (error: null, answer: object) => void) =>
        done(null, { ...DESCRIBED, file: '/of/admin', sha256: 'a'.repeat(64) }),
    });
    const bind = promisify(admin.bindAsync.bind(admin));
    await bind(`unix:${pipe}_admin`, ServerCredentials.createInsecure());
    expect((await loadedFiles(node))?.get('/of/admin')).toBe('a'.repeat(64));
  });
});
