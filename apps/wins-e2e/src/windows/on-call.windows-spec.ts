import { serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { startProgram } from '../testing/built-program.js';
import { WINS } from '../testing/workspace.js';
import { serviceLogFolders, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
/** Matches only the end of the path, because a service may have a different %ProgramData%. */
const LOG = /\\rancher\\wins\\log$/;

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly { readonly check: string; readonly found: string }[];
}

describe('an operator on call on Windows', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const tool = workspace.program('tool');
  const sleeper = workspace.script('sleeper', "console.log('up'); setInterval(() => {}, 1e6);");
  const config = workspace.config([tool]);
  const status = async (...more: string[]) => {
    const { code, stdout, stderr } = await workspace.run('status', '--config', config, ...more);
    return { code, text: String(stdout), stderr };
  };
  const programData = () => {
    const [folder] = serviceLogFolders();
    assert.ok(folder, 'there is no folder of logs');
    return folder.replace(LOG, '');
  };
  const startLogs = (folder: string, ...words: string[]) =>
    startProgram(process.execPath, [WINS, 'logs', ...words], {
      ...process.env,
      ProgramData: folder,
    });
  const startRun = async () => {
    const run = workspace.client('prc', 'run', '--path', tool, '--', sleeper);
    await run.printed('up');
    return run;
  };

  before(() => {
    // Refuses to run on a real node: the tests would replace its service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
  });
  after(async () => {
    await workspace.run('srv', 'app', 'run', '--unregister');
    await workspace.remove();
  });

  it('learns from the status that there is no service, and how to get one', async () => {
    const { code, text } = await status();
    assert.equal(code, 2, text);
    assert.match(text, /^problem +daemon +does not serve: /m);
    assert.match(text, /→ start the service: sc\.exe start rancher-wins\r?\n/);
    assert.match(text, /^warning +service +rancher-wins is not registered/m);
    assert.match(
      text,
      /→ register it: wins srv app run --register --config "C:\\[^\\]*\\[^\\]*\\config file"\r?\n/,
    );
    assert.doesNotMatch(text, /systemctl|journalctl/);
    const asked = await status('-o', 'json');
    assert.deepEqual([asked.code, (JSON.parse(asked.text) as Report).healthy], [2, false]);
  });

  it('learns from the logs that the service has not run yet', async () => {
    const { code, stderr } = await startLogs(workspace.folder).outcome;
    assert.equal(code, 69, stderr);
    assert.match(stderr, /the service has not run yet.*sc\.exe start rancher-wins/);
  });

  it('sees on one screen what the service does, and that its config was rejected', async () => {
    const words = ['srv', 'app', 'run', '--register', '--config', config];
    const registered = await workspace.run(...words);
    assert.equal(registered.code, 0, registered.stderr);
    const { pid } = await services.start(NAME);
    const run = await startRun();
    const { code, text } = await status();
    assert.equal(code, 0, text);
    assert.match(text, new RegExp(`^ok +daemon +serves v\\S+ for \\S+ \\(process ${pid}\\)`));
    assert.match(text, /1 run \(rancher-wins-tool\)/);
    assert.match(text, /^ok +disk +state folder .* MiB free/m);
    const asked = await status('-o', 'json');
    const report = JSON.parse(asked.text) as Report;
    assert.deepEqual([asked.code, report.healthy], [0, true]);
    const checks = report.findings.map(({ check }) => check);
    assert.equal(checks[0], 'daemon');
    assert.ok(checks.includes('config in force'), asked.text);
    run.child.kill();
    await run.outcome;
    const follower = startLogs(programData(), '-f', '-n', '1');
    await follower.printed('\n');
    writeFileSync(config, 'nonsense: [');
    await follower.printed('config rejected');
    const rejected = await status();
    assert.equal(rejected.code, 2, rejected.text);
    assert.match(rejected.text, /^problem +config +.*:1:12: found text that is neither /m);
    workspace.config([tool]);
    await follower.printed('config read again');
    const mended = await status();
    assert.equal(mended.code, 0, mended.text);
    follower.child.kill();
    await follower.outcome;
  });

  it('reads the log of the service, and follows it', async () => {
    const { code, stdout, stderr } = await startLogs(programData()).outcome;
    assert.equal(code, 0, stderr);
    assert.match(String(stdout), /"msg":"ready"/);
    const follower = startLogs(programData(), '-f', '-n', '1');
    await follower.printed('\n');
    const refused = await workspace.client('prc', 'run', '--path', process.execPath).outcome;
    assert.equal(refused.code, 126, refused.stderr);
    await follower.printed('"verdict":"refused"');
    follower.child.kill();
    await follower.outcome;
  });

  it('follows runs with bars, and ends one at once, on the pipe of administrators', async () => {
    const run = await startRun();
    const top = workspace.client('prc', 'top', '-o', 'table');
    await top.printed('rancher-wins-tool');
    assert.match(top.stdout(), /NAME +STATE +CPU +MEM +CPU % +MEMORY/);
    // This command needs the administrators' pipe. The main pipe refuses an administrator at the console or over RDP, because on that pipe the
    // daemon cannot tell such an administrator from one in a container.
    const words = ['stop', 'rancher-wins-tool', '-o', 'json', '--now'];
    const { code, stdout, stderr } = await workspace.client('prc', ...words).outcome;
    assert.equal(code, 0, stderr);
    assert.match(String(stdout), /"reason":"stopped"/i);
    assert.notEqual((await run.outcome).code, 0);
    top.child.kill();
    await top.outcome;
  });

  it('finds the program of a path without its .exe', async () => {
    const words = ['prc', 'run', '--path', tool.replace(/\.exe$/, ''), '--', '-p', '6*7'];
    const { code, stdout, stderr } = await workspace.client(...words).outcome;
    assert.deepEqual([code, String(stdout).trim()], [0, '42'], stderr);
  });

  it('learns that the service was stopped, and how it ended', async () => {
    await services.stop(NAME);
    const { code, text } = await status();
    assert.equal(code, 2, text);
    assert.match(text, /^problem +service +rancher-wins is stopped, .*its Win32 exit code was 0/m);
    assert.match(text, /→ start it: sc\.exe start rancher-wins; for the reason see its log, /);
  });

  it('learns of a frozen daemon within seconds', async () => {
    const words = ['--inspect=127.0.0.1:0', WINS, 'srv', 'app', 'run', '--config', config];
    const frozen = startProgram(process.execPath, words, process.env);
    try {
      await frozen.said('"msg":"ready"');
      const [url = ''] = /ws:\/\/\S+/.exec(frozen.stderr()) ?? [];
      const inspector = new WebSocket(url);
      await once(inspector, 'open');
      const expression = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
      inspector.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
      const { code, text } = await status();
      assert.equal(code, 2, text);
      assert.match(
        text,
        /^problem +daemon +the daemon does not answer: .*did not answer within 5 s/m,
      );
      assert.match(text, /→ see its log .*, then restart it/);
    } finally {
      frozen.child.kill('SIGKILL');
    }
    await frozen.outcome;
  });
});

describe('a listed file that CreateProcess does not start', () => {
  const workspace = new WindowsWorkspace();
  after(() => workspace.remove());

  it('is refused by the check of the config', async () => {
    const endings = ['ps1', 'JS', 'msi', 'lnk', 'dll'];
    const config = workspace.config(endings.map((ending) => workspace.path(`tool.${ending}`)));
    const { code, stderr } = await workspace.run('srv', 'config', 'check', '--config', config);
    assert.equal(code, 78, stderr);
    const found = stderr.split('a script or a document, which Windows cannot start');
    assert.equal(found.length, 1 + endings.length, stderr);
  });
});
