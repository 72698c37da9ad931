// Longer than most files, because it contains the tests and also the service that they register. The tests choose the
// behaviour of the service from `roles`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { windowsCommandLine } from '../processes/windows-process-start.js';
import { serviceControlManager } from './service-control-manager.js';
import type { ServiceDefinition } from './service-config.js';
import { runAsService, type RunningService } from './service-process.js';
import type { ServiceStatus } from './service-wait.js';

/** Word in the command line that makes this file a service. The service's name, role and report folder follow. */
const ROLE = 'be-the-service';

const commandLineOf = ([program = '', ...args]: readonly string[]): string =>
  windowsCommandLine(program, args);

const roles: Readonly<
  Record<string, (service: RunningService, tell: (text: string) => void) => Promise<number>>
> = {
  serve: async (service, tell) => {
    tell('starting');
    while (!existsSync(`${folder}\\may-serve`)) await delay(10);
    tell('serving');
    service.ready();
    tell(`asked to ${await service.stopRequested}`);
    return 0;
  },
  sayName: async (service, tell) => {
    tell(`called ${service.name}`);
    service.ready();
    await service.stopRequested;
    return 0;
  },
  fail: () => Promise.resolve(78),
  throw: () => Promise.reject(new Error('no')),
  neverReady: async (service, tell) => {
    tell('starting');
    tell(`asked to ${await service.stopRequested}`);
    return 0;
  },
  neverStopping: async (service) => {
    service.ready();
    await new Promise(() => undefined);
    return 0;
  },
};

let folder = '';

async function beTheService(): Promise<void> {
  const at = process.argv.indexOf(ROLE);
  const [name = '', role = '', where = ''] = process.argv.slice(at + 1);
  folder = where;
  const tell = (text: string): void => appendFileSync(`${where}\\told`, `${text}\n`);
  const run = roles[role];
  assert.ok(run);
  const exitCode = await runAsService({
    name: role === 'sayName' ? 'the-usual-name' : name,
    run: (service) => run(service, tell),
    stopLimitMs: 4000,
  });
  tell(`returned ${exitCode}`);
  process.exit(exitCode ?? 3);
}

function theSuite(): void {
  const scm = serviceControlManager();
  const name = `wins-spec-${process.pid}`;
  const told = (): string[] => {
    const file = `${folder}\\told`;
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  const toldOf = async (text: string): Promise<void> => {
    while (!told().includes(text)) await delay(10);
  };
  const definition = (role: string, more: readonly string[] = []): ServiceDefinition => ({
    name,
    displayName: 'A spec',
    description: 'Grüße aus der Prüfung',
    command: [process.execPath, __filename, ROLE, name, role, folder, ...more],
    startType: 'manual',
    dependencies: [],
    failurePolicy: { restartDelaysMs: [5000, 10_000, 15_000], resetAfterSeconds: 600 },
    preshutdownTimeoutMs: 45_000,
  });
  const mayServe = (): void => writeFileSync(`${folder}\\may-serve`, '');
  const start = async (role: string): Promise<ServiceStatus> => {
    scm.register(definition(role));
    mayServe();
    return await scm.start(name);
  };

  let all: string;
  before(() => {
    all = mkdtempSync(path.join(tmpdir(), 'a service '));
  });
  // Each test gets its own folder, because a service still writes after it has reported that it is stopped.
  beforeEach(() => {
    folder = mkdtempSync(path.join(all, 'test '));
  });
  afterEach(async () => {
    scm.remove(name);
    assert.ok(await scm.gone(name));
  });
  after(() => rmSync(all, { recursive: true, force: true, maxRetries: 10 }));

  describe('the service control manager', () => {
    it('registers a service, and changes it in place', () => {
      const first = scm.register(definition('serve'));
      assert.equal(first.outcome, 'created');
      assert.equal(first.needsRestart, false);
      const changed = {
        ...definition('serve', ['more']),
        displayName: 'Another name',
        startType: 'automatic',
      } as const;
      assert.equal(scm.register(changed).outcome, 'updated');
      const config = scm.config(name);
      assert.equal(config.commandLine, commandLineOf(changed.command));
      assert.equal(config.displayName, 'Another name');
      assert.equal(config.description, 'Grüße aus der Prüfung');
      assert.equal(config.startType, 'automatic');
      assert.equal(config.account, 'LocalSystem');
      assert.equal(scm.status(name).state, 'stopped');
    });

    it('changes what a service runs and nothing else', () => {
      scm.register(definition('serve'));
      const { commandLine: _old, ...before } = scm.config(name);
      const command = ['C:\\a b\\other.exe', 'say "hi"'];
      scm.setCommand(name, command);
      const { commandLine, ...now } = scm.config(name);
      assert.equal(commandLine, commandLineOf(command));
      assert.deepEqual(now, before);
      assert.throws(() => scm.setCommand('wins-spec-missing', command), { code: 'notFound' });
    });

    it('keeps the command line through blanks, quotes and backslashes', async () => {
      const words = [
        'C:\\Program Files\\a b\\c.json',
        'say "hi"',
        'tail\\',
        'two tails\\\\',
        '',
        '\\"',
      ];
      const { command } = definition('serve', words);
      scm.register({ ...definition('serve'), command });
      assert.equal(scm.config(name).commandLine, commandLineOf(command));
      // Starts a process with this command line, unchanged, to see the arguments that it gets.
      const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
      const line = windowsCommandLine(process.execPath, ['-e', script, '--', ...words]);
      const child = spawn(process.execPath, [line.slice(process.execPath.length + 3)], {
        windowsVerbatimArguments: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk) => (output += String(chunk)));
      await once(child, 'close');
      assert.deepEqual(JSON.parse(output), words);
    });

    it('says that there is no such service', async () => {
      const missing = { name: 'WindowsError', code: 'notFound', functionName: 'OpenServiceW' };
      assert.throws(() => scm.status('wins-spec-missing'), missing);
      assert.throws(() => scm.config('wins-spec-missing'), missing);
      await assert.rejects(scm.start('wins-spec-missing'), missing);
      await assert.rejects(scm.stop('wins-spec-missing'), missing);
      assert.equal(scm.remove('wins-spec-missing'), false);
    });

    it('removes once', () => {
      scm.register(definition('serve'));
      assert.equal(scm.remove(name), true);
      assert.equal(scm.remove(name), false);
    });

    it('removes a running service when it has stopped', async () => {
      await start('serve');
      assert.equal(scm.remove(name), true);
      assert.equal(scm.remove(name), true);
      assert.throws(() => scm.register(definition('serve')), { code: 'busy' });
      assert.equal(await scm.gone(name, { timeoutMs: 0 }), false);
      await scm.stop(name);
      assert.equal(await scm.gone(name), true);
      assert.equal(scm.register(definition('serve')).outcome, 'created');
    });

    it('serves two that register at once', async () => {
      const outcomes = await Promise.all(
        ['register-a', 'register-b'].map(async (role) => {
          const child = spawn(process.execPath, [__filename, 'register-only', name, role, folder]);
          const [code] = (await once(child, 'exit')) as [number];
          return code;
        }),
      );
      assert.deepEqual(outcomes, [0, 0]);
      assert.match(scm.config(name).commandLine, /register-[ab]/);
    });

    it('stops what it has started, and does neither twice', async () => {
      const running = await start('serve');
      assert.equal(running.state, 'running');
      assert.notEqual(running.pid, 0);
      assert.equal((await scm.start(name)).pid, running.pid);
      assert.equal(scm.register(definition('serve')).needsRestart, true);
      const stopped = await scm.stop(name);
      assert.deepEqual([stopped.state, stopped.win32ExitCode], ['stopped', 0]);
      assert.equal((await scm.stop(name)).state, 'stopped');
      await toldOf('returned 0');
      assert.deepEqual(told(), ['starting', 'serving', 'asked to stop', 'returned 0']);
    });

    it('serves two that start, and two that stop it, at once', async () => {
      scm.register(definition('serve'));
      mayServe();
      const [one, other] = await Promise.all([scm.start(name), scm.start(name)]);
      assert.equal(one.pid, other.pid);
      const stopped = await Promise.all([scm.stop(name), scm.stop(name)]);
      assert.deepEqual(
        stopped.map(({ state, win32ExitCode }) => [state, win32ExitCode]),
        [
          ['stopped', 0],
          ['stopped', 0],
        ],
      );
    });

    it('gives up a program that does not answer the service control manager when it is told to', async () => {
      const program =
        'fs.writeFileSync(process.argv[1], `${process.pid}`); setInterval(() => 0, 1e8)';
      const command = [process.execPath, '-e', program, `${folder}\\told`];
      scm.register({ ...definition('serve'), command });
      const giveUp = new AbortController();
      setImmediate(() => giveUp.abort());
      const started = scm.start(name, { signal: giveUp.signal });
      await assert.rejects(started, { name: 'AbortError' });
      while (!/\d/.test(told()[0] ?? '')) await delay(10);
      process.kill(Number(told()[0]));
    });

    it('gives up waiting when it is told to, and names the state that it found', async () => {
      scm.register(definition('serve'));
      await assert.rejects(scm.start(name, { timeoutMs: 2000 }), {
        code: 'timeout',
        message: /it is startPending, checkpoint \d+ after 2000 ms; wanted running/,
      });
      mayServe();
      await scm.start(name);
      await scm.stop(name);
    });
  });

  describe('a service', () => {
    it('runs when it says so and not before, and makes progress until then', async () => {
      scm.register(definition('serve'));
      const seen: string[] = [];
      const started = scm.start(name, {
        onProgress: ({ state, checkpoint }) => {
          seen.push(`${state} ${checkpoint}`);
          if (checkpoint === 2) mayServe();
        },
      });
      await started;
      assert.deepEqual(seen.slice(-3), ['startPending 1', 'startPending 2', 'running 0']);
      await scm.stop(name);
    });

    it('is told what it is called, whatever its usual name is', async () => {
      assert.equal((await start('sayName')).state, 'running');
      assert.deepEqual(told(), [`called ${name}`]);
      await scm.stop(name);
    });

    it('can be stopped while it starts', async () => {
      scm.register(definition('neverReady'));
      const started = scm.start(name).then(
        () => 'ran',
        () => 'ended',
      );
      await toldOf('starting');
      assert.equal((await scm.stop(name)).win32ExitCode, 0);
      assert.equal(await started, 'ended');
      assert.deepEqual(told().slice(0, 2), ['starting', 'asked to stop']);
    });

    it('that cannot start ends with its exit code, and does not hang', async () => {
      scm.register(definition('fail'));
      await assert.rejects(scm.start(name), { message: /it ended with exit code 78$/ });
      const { win32ExitCode, serviceExitCode } = scm.status(name);
      assert.deepEqual([win32ExitCode, serviceExitCode], [1066, 78]);
    });

    it('that throws ends with exit code 1', async () => {
      scm.register(definition('throw'));
      await assert.rejects(scm.start(name), { message: /it ended with exit code 1$/ });
    });

    it('that does not stop in time counts as ended, with exit code 1', async () => {
      await start('neverStopping');
      const stopped = await scm.stop(name);
      assert.deepEqual([stopped.state, stopped.serviceExitCode], ['stopped', 1]);
    });

    it('is none when the service control manager has not started it', async () => {
      let isRun = false;
      const exitCode = await runAsService({
        name,
        run: () => {
          isRun = true;
          return Promise.resolve(0);
        },
      });
      assert.equal(exitCode, undefined);
      assert.equal(isRun, false);
    });
  });
}

if (process.argv.includes(ROLE)) {
  void beTheService();
} else if (process.argv.includes('register-only')) {
  const [name = '', role = '', where = ''] = process.argv.slice(3);
  serviceControlManager().register({
    name,
    displayName: name,
    description: '',
    command: [process.execPath, __filename, ROLE, name, role, where],
    startType: 'manual',
    dependencies: [],
    failurePolicy: { restartDelaysMs: [1000], resetAfterSeconds: 1 },
    preshutdownTimeoutMs: 1000,
  });
} else {
  theSuite();
}
