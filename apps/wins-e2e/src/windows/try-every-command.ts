import { serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startProgram, type RunningProgram } from '../testing/built-program.js';
import { EVERY_COMMAND, type CommandHost } from '../testing/every-command.js';
import { namedCommands, type NamedCommand } from '../testing/named-commands.js';
import { sampleOf } from '../testing/sample.js';
import { HostProgram } from '../testing/tunnel/tunnel.js';
import { ROOT } from '../testing/workspace.js';
import { until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
const PACKAGE = path.join(ROOT, 'dist', 'package');
/** A service may keep its records in either folder: under Wine, the ProgramData of services differs from that of programs at a terminal. */
const PROGRAM_DATA = [process.env['ProgramData'] ?? 'C:\\ProgramData', 'C:\\users\\Public'];

const AT_TERMINAL = 12;

export interface PackagedProgram {
  /** Path of the upgrade helper, which is the packaged program under another name. */
  readonly upgrader: string;
  readonly start: (file: string, ...args: string[]) => RunningProgram;
  /** Returns the commands in the program's help. */
  readonly commands: () => Promise<readonly NamedCommand[]>;
}

/**
 * Tries the packaged program's commands with a daemon from the same file, and runs the checks in `more`. If the daemon is the service, tries
 * every command. If the daemon runs at a terminal, tries only a sample, because that daemon differs from the service only in its folders.
 */
export function tryEveryCommand(
  how: 'at a terminal' | 'as the service',
  more: (world: PackagedProgram) => void = () => undefined,
): void {
  void describe('wins.exe as it is packaged', () => {
    const workspace = new WindowsWorkspace();
    const services = serviceControlManager();
    const wins = workspace.path('wins.exe');
    const upgrader = workspace.path('wins-upgrade.exe');
    const tool = workspace.program('tool');
    const programs: RunningProgram[] = [];
    let environment = process.env;
    const start = (file: string, ...args: string[]) => {
      const program = startProgram(file, args, environment);
      programs.push(program);
      return program;
    };
    const register = (...args: string[]) => start(wins, 'srv', 'app', 'run', ...args).outcome;
    let echo: HostProgram;
    let config: string;

    before(async () => {
      // Refuses to run on a real node: the tests would replace its service.
      assert.throws(() => services.status(NAME), { code: 'notFound' });
      echo = await HostProgram.tcp((socket) => socket.pipe(socket));
      config = workspace.config(
        [
          { path: tool, detached: { allow: true } },
          { path: upgrader, mayBreakAway: true },
        ],
        [echo.port],
      );
      copyFileSync(path.join(PACKAGE, 'wins.exe'), wins);
      copyFileSync(path.join(PACKAGE, 'wins-upgrade.exe'), upgrader);
    });
    after(async () => {
      for (const { child } of programs) child.kill('SIGKILL');
      await register('--unregister');
      await echo[Symbol.asyncDispose]();
      await workspace.remove();
    });

    more({
      upgrader,
      start,
      commands: () => namedCommands((args) => start(wins, ...args).outcome),
    });

    const isService = how === 'as the service';
    void describe(`with a daemon of the same file ${how}`, () => {
      let host: CommandHost;
      let daemon: RunningProgram | undefined;

      before(async () => {
        const brokenConfig = workspace.write('broken', '{"listen": ');
        const sha1 = createHash('sha1').update(readFileSync(wins)).digest('hex');
        const stay = workspace.script('stay', "console.log('up'); setInterval(() => {}, 1e6);");
        host = {
          start: (...args) => start(wins, ...args),
          config,
          brokenConfig,
          sha1,
          server: workspace.listen,
          proxy: workspace.proxy,
          tool,
          upgrader,
          isService,
          stay: [stay],
          greet: ['-e', "console.log('hello'); process.exitCode = 7;"],
          service: ['--service', NAME],
          adapter: [],
          echoPort: echo.port,
        };
        if (isService) {
          // The second registration changes the service in place.
          for (const more of [[], ['--delayed-start']]) {
            const { code, stderr } = await register('--config', config, '--register', ...more);
            assert.equal(code, 0, stderr);
          }
          await services.start(NAME);
          const keeps = (location: string): boolean =>
            existsSync(path.join(location, 'rancher', 'wins', 'audit', workspace.listen));
          await until(() => PROGRAM_DATA.some(keeps));
          environment = { ...process.env, ProgramData: PROGRAM_DATA.find(keeps) };
        } else {
          daemon = start(wins, 'srv', 'app', 'run', '--config', config);
          await daemon.said('"msg":"ready"');
        }
      });
      after(async () => {
        daemon?.child.kill('SIGKILL');
        await daemon?.outcome;
        for (const wanted of isService ? [/removed/i, /not registered|no service/i] : []) {
          const { code, stdout, stderr } = await register('--unregister');
          assert.equal(code, 0, stderr);
          assert.match(`${String(stdout)}${stderr}`, wanted);
        }
      });

      const all = Object.entries(EVERY_COMMAND);
      for (const [name, check] of isService ? all : sampleOf(all, AT_TERMINAL)) {
        void it(`does what it should: wins ${name}`, () => check(host));
      }
    });
  });
}
