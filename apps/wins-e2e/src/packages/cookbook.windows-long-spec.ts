/** @needs examples */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const BUILT = path.join(process.env['WINS_ROOT'] ?? '', 'dist/examples/built');
const FORMS = { 'es-module': '.mjs', commonjs: '.cjs' };
/** A program that ends at once. */
const BRIEF = path.join(process.env['SystemRoot'] ?? 'C:\\windows', 'system32', 'hostname.exe');

for (const [form, end] of Object.entries(FORMS))
  describe(`the cookbook on Windows, as ${form}`, () => {
    let folder: string;
    before(() => (folder = mkdtempSync(path.join(tmpdir(), 'wins-cookbook-'))));
    after(() => rmSync(folder, { recursive: true, maxRetries: 10 }));
    const fileOf = (name: string): string => path.join(BUILT, form, name + end);

    /** Starts a program, reads its output until `wanted` returns true for a line, and ends it. */
    async function untilSaid(
      wanted: (line: string) => boolean,
      name: string,
      ...args: string[]
    ): Promise<void> {
      const child = spawn(process.execPath, [fileOf(name), ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const stderr = text(child.stderr);
      const lines: string[] = [];
      let isSaid = false;
      for await (const line of createInterface(child.stdout)) {
        lines.push(line);
        isSaid = wanted(line);
        if (isSaid) break;
      }
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
      assert.ok(isSaid, `${name} said: ${lines.join('\n')}\n${await stderr}`);
    }

    it('has a linter that marks a fault with its place', () => {
      const file = path.join(folder, 'config');
      writeFileSync(file, 'debugg: true\n');
      const args = [fileOf('config-linter'), file];
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      assert.equal(status, 1);
      assert.match(stdout, /^::error file=\S+config,line=1,col=1::debugg/);
    });

    it('has a bastion that listens on a pipe', () =>
      untilSaid((line) => line === 'ready', 'bastion', `cookbook-${process.pid}`, '{}'));

    it('has a supervisor that runs programs', () =>
      untilSaid(
        (line) => line.startsWith('hostname.exe is not started again: exit code 0'),
        'supervisor',
        path.join(folder, 'state'),
        BRIEF,
      ));

    it('has an agent that applies a plan', async () => {
      const root = path.join(folder, 'agent');
      mkdirSync(path.join(root, 'plans'), { recursive: true });
      const made = path.join(folder, 'made');
      const content = Buffer.from('by the plan').toString('base64');
      writeFileSync(
        path.join(root, 'plans', 'node.plan'),
        JSON.stringify({ files: [{ path: made, content }] }),
      );
      await untilSaid((line) => line === 'the plan was applied: true', 'node-agent', root);
      assert.ok(existsSync(made));
    });

    it('has a roll-out that says when no daemon serves', () => {
      const args = [fileOf('roll-out'), 'web', BRIEF];
      const env = { ...process.env, WINS_PIPE: `cookbook-none-${process.pid}` };
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
      assert.equal(status, 1);
      assert.match(stderr, /^unavailable: /);
    });
  });
